import type { Exchange } from '../exchange.js';

/** Of every document there is one copy. */
const copies = 1;

/** Whether a write asks by `w` for more copies than there are. An integer in a body counts before the query string. */
export function asksForMoreCopies({ query }: Exchange, inBody?: unknown): boolean {
  const text = query.first('w') ?? '';
  return (Number.isInteger(inBody) ? Number(inBody) : /^\+?\d+$/.test(text) ? Number(text) : 0) > copies;
}

/** What was written, but not as often as it was asked for, is accepted. */
export const savedStatus = (exchange: Exchange, status: number): number =>
  asksForMoreCopies(exchange) ? 202 : status;
