import { listingParameters, readingParameters, viewParameters } from '../endpoints/endpoint.js';
import type { CompareRequest } from '../request.js';
import type { SceneName } from '../scene.js';
import { trials, type ParameterType } from '../values.js';
import { randomDesign } from './designs.js';
import { randomQuery, randomSelector } from './selectors.js';
import type { RandomSource } from './source.js';

const requestsMax = 16;
const ids = ['a', 'b', 'c', 'tree', 'file', 'gone', 'new', 'x y', 'z/z'];
const values: readonly unknown[] = [1, 2, 3, 'one', null, true, [], ['y', 'x'], { p: 1 }, 1.5, 'ü'];
const limitRoute = '/{db}/_revs_limit';
const hashes = ['aa', 'bb', 'cc', 'dd', 'ee', 'ff'];

/** Writes, conflicts, attachments, purges, design documents and queries in random order. */
export function randomSequence(random: RandomSource, scene: SceneName): CompareRequest[] {
  const length = 4 + random.below(requestsMax - 4);
  const written = new Set(scene === 'plain' ? ['a', 'b', 'c', 'tree', 'file', 'gone'] : []);
  // Before all else: CouchDB shortens a history that has become too long when an edit of its document is refused, too.
  const limit = random.chance(0.1)
    ? [made('PUT', limitRoute, limitRoute, random.pick(['3', '4', '1000']))]
    : [];
  return [...limit, ...Array.from({ length }, () => random.pick(makers)(random, written))];
}

/**
 * Revisions are named only of documents that were written before: CouchDB takes an unknown one for the parent of a new
 * document, if the database has another document and no validation function.
 */
type Maker = (random: RandomSource, written: Set<string>) => CompareRequest;

function made(method: string, route: string, path: string, body?: unknown): CompareRequest {
  return { endpoint: `${method} ${route}`, method, path, ...(body === undefined ? {} : { body }) };
}

/** What a view answers that is not brought up to date is a matter of time. */
const freshViewParameters = Object.fromEntries(
  Object.entries(viewParameters).filter(([name]) => name !== 'stale' && name !== 'update'),
);

const address = (id: string): string => `/{db}/${encodeURIComponent(id)}`;

function randomDoc(random: RandomSource): Record<string, unknown> {
  const names = random.some(['n', 's', 'tags', 'nested', 'v'], 4);
  return Object.fromEntries(names.map((name) => [name, random.pick(values)]));
}

/** `{ _rev }`, or nothing where the document is new. */
function withRev(random: RandomSource, written: Set<string>, id: string, chance: number): object {
  const isKnown = written.has(id);
  written.add(id);
  return isKnown && random.chance(chance) ? { _rev: randomRev(random, id) } : {};
}

function randomRev(random: RandomSource, id: string): string {
  const fitting = random.chance(0.75);
  // Not two branches of the same length: which one wins is a matter of their hashes.
  return fitting ? `{rev:${id}}` : random.pick([`{old:${id}}`, '2-cc', '3-dd', '9-ff']);
}

function withSome(
  random: RandomSource,
  path: string,
  types: Readonly<Record<string, ParameterType>>,
): string {
  const chosen = random.some(Object.keys(types), 3).map((name) => {
    const all = trials(name, types[name]!);
    const right = all.filter(({ kind }) => kind === 'right');
    return name + random.pick(random.chance(0.8) ? right : all).text;
  });
  return chosen.length === 0 ? path : `${path}?${chosen.join('&')}`;
}

function randomHistory(random: RandomSource, id: string): Record<string, unknown> {
  const start = 1 + random.below(4);
  // A hash names its ancestors too, as real ones do: no revision has two parents. It wins against all that servers make.
  // And it names the length: whether CouchDB stores a revision that others follow depends on what it has read before.
  const path = Array.from({ length: start }, () => random.pick(hashes)).join('');
  const chain = Array.from({ length: start }, (_, at) =>
    `fff${start}${path.slice(0, 2 * (start - at))}`.padEnd(32, '0'),
  );
  const deleted = random.chance(0.25) ? { _deleted: true } : {};
  return {
    ...randomDoc(random),
    _id: id,
    _rev: `${start}-${chain[0]}`,
    _revisions: { start, ids: chain },
    ...deleted,
  };
}

const writes: readonly Maker[] = [
  (random, written) => {
    const id = random.pick(ids);
    const rev = withRev(random, written, id, 0.7);
    return made('PUT', '/{db}/{docid}', address(id), { ...randomDoc(random), ...rev });
  },
  (random) => {
    const id = random.pick(ids);
    return made('DELETE', '/{db}/{docid}', `${address(id)}?rev=${randomRev(random, id)}`);
  },
  (random, written) => {
    const chosen = random.some(ids, 4).sort();
    const docs = chosen.map((_id) => ({
      ...randomDoc(random),
      _id,
      ...withRev(random, written, _id, 0.6),
      ...(random.chance(0.15) ? { _deleted: true } : {}),
    }));
    return made('POST', '/{db}/_bulk_docs', '/{db}/_bulk_docs', { docs });
  },
  (random) => {
    const docs = random
      .some(['tree', 'gone', 'new'], 3)
      .sort()
      .map((id) => randomHistory(random, id));
    return made('POST', '/{db}/_bulk_docs', '/{db}/_bulk_docs', { docs, new_edits: false });
  },
  // A document of its own: CouchDB takes one for alive of which only a deleted branch is left after a purge, and removes one
  // from its indexes of which nothing was purged.
  (random) =>
    random.chance(0.5)
      ? made('POST', '/{db}/_purge', '/{db}/_purge', { purged: ['{rev:purged}'] })
      : made('PUT', '/{db}/{docid}', '/{db}/purged', randomDoc(random)),
  (random, written) => {
    const id = random.pick(ids);
    const name = random.pick(['bytes.bin', 'text.txt', 'a/b', 'ü']);
    const rev = written.has(id) && random.chance(0.85) ? `?rev=${randomRev(random, id)}` : '';
    const type = random.pick(['text/plain', 'application/octet-stream', '']);
    return {
      ...made(
        'PUT',
        '/{db}/{docid}/{attname}',
        `${address(id)}/${name.split('/').map(encodeURIComponent).join('/')}${rev}`,
      ),
      body: random.pick(['', 'few', 'many bytes '.repeat(40)]),
      headers: { 'content-type': type },
    };
  },
  (random) => {
    const id = random.pick(['file', 'a', 'new']);
    const name = random.pick(['bytes.bin', 'text.txt', 'nope']);
    return made('DELETE', '/{db}/{docid}/{attname}', `${address(id)}/${name}?rev=${randomRev(random, id)}`);
  },
  (random, written) => {
    const id = random.pick(ids);
    const stubs = { 'text.txt': { stub: true }, 'in.txt': { data: 'aGVsbG8=', content_type: 'text/plain' } };
    const chosen = Object.fromEntries(random.some(Object.entries(stubs), 2));
    // A stub of nothing is refused, and the document is as unknown as before.
    const rev = withRev(random, new Set(written), id, 0.8);
    return made('PUT', '/{db}/{docid}', address(id), { ...rev, _attachments: chosen });
  },
  (random, written) => {
    const [from, to] = random.shuffle(ids) as [string, string];
    const rev = written.has(to) && random.chance(0.6) ? `?rev=${randomRev(random, to)}` : '';
    return {
      ...made('COPY', '/{db}/{docid}', address(from)),
      headers: { destination: `${encodeURIComponent(to)}${rev}` },
    };
  },
  (random, written) => {
    const name = random.pick(['v1', 'v2']);
    const rev = written.has(name) && random.chance(0.9) ? { _rev: `{rev:_design/${name}}` } : {};
    written.add(name);
    return made('PUT', '/{db}/_design/{ddoc}', `/{db}/_design/${name}`, { ...randomDesign(random), ...rev });
  },
  (random) => {
    const index = {
      fields: random.pick([['n'], ['s'], ['n', 's'], [{ v: 'desc' }], ['nested.p'], ['tags']]),
    };
    const filtered = random.chance(0.2) ? { partial_filter_selector: randomSelector(random, 0) } : {};
    const name = random.pick(['one', 'two']);
    return made('POST', '/{db}/_index', '/{db}/_index', {
      index: { ...index, ...filtered },
      ddoc: name,
      name,
    });
  },
  (random) => made('PUT', '/{db}/_local/{docid}', '/{db}/_local/l', randomDoc(random)),
  (random) =>
    made(
      'POST',
      '/{db}/_design/{ddoc}/_update/{func}/*',
      `/{db}/_design/fun/_update/same/${random.pick(['a', 'b', 'nope'])}`,
      {},
    ),
];

const reads: readonly Maker[] = [
  (random) => made('GET', '/{db}/{docid}', withSome(random, address(random.pick(ids)), readingParameters)),
  (random) => made('GET', '/{db}/_all_docs', withSome(random, '/{db}/_all_docs', listingParameters)),
  (random) => {
    const [ddoc, view] = random.pick([
      ['v1', 'v'],
      ['v1', 'w'],
      ['v2', 'v'],
      ['v2', 'x'],
      ['fun', 'n'],
      ['fun', 'counted'],
      ['fun', 'summed'],
    ]) as [string, string];
    const path = withSome(random, `/{db}/_design/${ddoc}/_view/${view}`, freshViewParameters);
    return made('GET', '/{db}/_design/{ddoc}/_view/{view}', path);
  },
  (random) => made('POST', '/{db}/_find', '/{db}/_find', randomQuery(random)),
  (random) => made('POST', '/{db}/_explain', '/{db}/_explain', randomQuery(random)),
  (random) =>
    made(
      'GET',
      '/{db}/_changes',
      withSome(random, '/{db}/_changes', {
        style: ['main_only', 'all_docs'],
        limit: 'number',
        descending: 'boolean',
        include_docs: 'boolean',
        conflicts: 'boolean',
        filter: ['_design', 'fun/odd', '_view'],
        view: ['fun/n', 'fun/summed'],
        attachments: 'boolean',
      }),
    ),
  (random) =>
    made('POST', '/{db}/_changes', '/{db}/_changes?filter=_selector', { selector: randomSelector(random) }),
  (random) => {
    const asked = random
      .some(ids, 3)
      .map((id) => [id, random.some(['1-aa', '2-bb', '3-dd', '4-ee', `{rev:${id}}`], 3)]);
    return made('POST', '/{db}/_revs_diff', '/{db}/_revs_diff', Object.fromEntries(asked));
  },
  (random) => {
    const docs = random
      .some(ids, 3)
      .map((id) => ({ id, ...(random.chance(0.5) ? { rev: randomRev(random, id) } : {}) }));
    return made(
      'POST',
      '/{db}/_bulk_get',
      withSome(random, '/{db}/_bulk_get', { revs: 'boolean', latest: 'boolean', attachments: 'boolean' }),
      { docs },
    );
  },
  (random) =>
    made(
      'GET',
      '/{db}/{docid}/{attname}',
      `${address(random.pick(['file', 'a', 'new']))}/${random.pick(['bytes.bin', 'text.txt', 'in.txt'])}`,
    ),
  () => made('GET', '/{db}', '/{db}'),
  () => made('GET', '/{db}/_index', '/{db}/_index'),
];

const makers: readonly Maker[] = [...writes, ...writes, ...reads, ...reads, ...reads];
