import type { Exchange } from '../exchange.js';

/** Of every document there is one copy. */
const copies = 1;

/** Whether a write asks by `w` for more copies than there are. What is asked for in a body counts before the address. */
export function asksForMoreCopies({ query }: Exchange, inBody?: unknown): boolean {
  const asked = inBody ?? query.get('w');
  return (typeof asked === 'string' || typeof asked === 'number') && Number(asked) > copies;
}

/** What was written, but not as often as it was asked for, is accepted. */
export const savedStatus = (exchange: Exchange, status: number): number =>
  asksForMoreCopies(exchange) ? 202 : status;
