import { asBytes } from '../../src/base/bytes.js';
import type { CatalogueCommand, CatalogueResults } from '../../src/node/catalogue-commands.js';
import type { TimeMark } from '../../src/node/time-marks.js';
import { prefixEnd, type Entry, type Store } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import type { LogScene } from './log-suite.js';

export const commands = life(300);

/** Databases that are created, changed and deleted; the first command is never undone. */
function life(count: number): CatalogueCommand[] {
  const random = new Random(seed);
  const names = ['a', 'b/ä😀', `long${'x'.repeat(200)}`, '_users'];
  const alive = new Map<string, number>();
  let version = 0;
  const made: CatalogueCommand[] = [{ type: 'create', name: 'first', settings: { q: 1 } }];
  for (let instance = 2; made.length < count;) {
    const name = random.pick(names);
    const known = alive.get(name);
    if (known === undefined) {
      alive.set(name, instance++);
      const options = random.oneIn(2) ? { partitioned: true as const, placement: 'partition' as const } : {};
      made.push({
        type: 'create',
        name,
        settings: { q: 1 + random.below(8), uuid: random.hex(8), ...options },
      });
    } else if (random.oneIn(3)) {
      alive.delete(name);
      made.push({ type: 'delete', name });
    } else if (random.oneIn(9)) {
      const step = { wanted: ['tuffet@a', `tuffet@${random.hex(2)}`], hosts: ['tuffet@a', 'tuffet@b'] };
      made.push({ type: 'place', name: '1', version: version++, step });
    } else if (random.oneIn(8)) {
      made.push({ type: 'share', name: `config/${name}`, value: random.oneIn(3) ? null : random.hex(6) });
    } else if (random.oneIn(4)) {
      made.push({ type: 'mark', name, instance: known, marks: randomMarks(random) });
    } else made.push({ type: 'set', name, instance: known, settings: randomSettings(random) });
  }
  return made;
}

function randomMarks(random: Random): TimeMark[] {
  return Array.from({ length: random.below(3) }, (_, i) => [1e9 * (i + 1), `${i}-${random.hex(8)}`]);
}

function randomSettings(random: Random): Extract<CatalogueCommand, { type: 'set' }>['settings'] {
  switch (random.below(4)) {
    case 0:
      return { revs_limit: 1 + random.below(1e9) };
    case 1:
      return { purged_infos_limit: random.below(10) };
    case 2:
      if (random.oneIn(2)) return { expiry: random.oneIn(2) ? {} : { field: 'at' } };
      return { auto_purge: random.oneIn(2) ? {} : { deleted_document_ttl: '1_day' } };
    default:
      return { security: { admins: { names: ['é', random.hex(5)] }, deep: [[{ n: random.below(9) / 7 }]] } };
  }
}

/** The part of the catalogue that nodes share: the lists of databases, their marks, the counters and values. */
const shared = ['a', 'd', 'e', 'h', 'm', 't', 'v']
  .map(asBytes)
  .map((start) => ({ start, end: prefixEnd(start) }));

export const sharedContents = (store: Store): Entry[] => shared.flatMap((range) => [...store.entries(range)]);

/** What a scene of the log of the catalogue has beside the log. */
export const catalogueScene: Omit<LogScene<CatalogueCommand, CatalogueResults>, 'open'> = {
  commands: (count) => commands.slice(0, count),
  rejected: { type: 'create', name: 'first', settings: { q: 2 } },
};
