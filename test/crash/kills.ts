/**
 * How often a test kills its server, or how many machines it simulates: a third of the times in `npm test`, all of them in
 * `npm run test:all`.
 */
export function kills(all: number): number {
  return process.env['TUFFET_ALL_KILLS'] === '1' ? all : Math.ceil(all / 3);
}
