import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';

/** How many copies are asked for by a parameter; other values than numbers ask for none. */
const countIn = (text = ''): number => (/^\+?\d+$/.test(text) ? Number(text) : 0);

/** Whether a request is to read from several copies, by `r`. */
export const readsSeveralCopies = ({ query }: Pick<Exchange, 'query'>): boolean =>
  countIn(query.first('r')) > 1;

/**
 * Whether there are fewer copies of what a write has saved than it asks for by `w`, after as much time as it takes to make them. An integer
 * in a body counts before the query string. On a server of its own there is one.
 */
export async function lacksCopies(
  { query, services }: Pick<Exchange, 'query' | 'services'>,
  { record }: Database,
  inBody?: unknown,
): Promise<boolean> {
  const wanted = Number.isInteger(inBody) ? Number(inBody) : countIn(query.first('w'));
  if (wanted <= 1) return false;
  return !(await services.cluster?.copyCount.reaches(record.stream ?? 0, wanted));
}

/** What was written, but not as often as it was asked for, is accepted. */
export const savedStatus = async (exchange: Exchange, database: Database, status: number): Promise<number> =>
  (await lacksCopies(exchange, database)) ? 202 : status;
