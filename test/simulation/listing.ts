import assert from 'node:assert/strict';
import { Listing } from '../../src/documents/list-docs.js';
import { best, type Facts } from './facts.js';
import type { Life } from './life.js';

/** Lists all documents while others write, and checks that none is twice, and none left out that was there all the time. */
export async function listIds(life: Life, facts: Facts, trace: (event: string) => void): Promise<void> {
  const { database, runtime } = life;
  const living = (): Map<string, string> =>
    new Map(
      facts.ids.flatMap((id) => {
        const winner = best(facts.look(database, id));
        return winner === undefined || winner.deleted ? [] : [[id, winner.rev]];
      }),
    );
  const before = living();
  const query = {
    descending: false,
    inclusiveEnd: true,
    skip: 0,
    limit: Infinity,
    includeDocs: false,
    conflicts: false,
    attachments: false,
    encodingInfo: false,
  };
  let text = '';
  for (const piece of new Listing(database, 'all', query).pieces()) {
    text += piece;
    await runtime.nextTurn();
  }
  const ids = (JSON.parse(Buffer.from(`[${text}]`, 'latin1').toString()) as { id: string }[]).map(
    ({ id }) => id,
  );
  assert.deepEqual(ids, [...new Set(ids)].sort(), 'a listing is in order, and has no document twice');
  const after = living();
  for (const [id, rev] of before)
    if (after.get(id) === rev) assert.ok(ids.includes(id), `a listing left out ${id}`);
  trace(`lists ${ids.join()}`);
}
