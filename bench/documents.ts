/** What the benchmarks store: documents of about 350 bytes with ids like CouchDB's sequential ones. Always the same. */
export interface BenchDocument {
  id: string;
  /** The JSON text without the id. */
  body: string;
}

const cities = ['Amsterdam', 'Bergen', 'Cordoba', 'Dakar', 'Edinburgh', 'Fukuoka', 'Ghent', 'Hanoi'];
const tags = ['urgent', 'synced', 'field', 'clinic', 'archived', 'draft', 'reviewed', 'offline'];
const names = [
  'Ada Lovelace',
  'Grace Hopper',
  'Edsger Dijkstra',
  'Barbara Liskov',
  'Tony Hoare',
  'Mary Shaw',
];

export function makeDocuments(count: number, seed = 1): BenchDocument[] {
  const random = randomNumbers(seed);
  const ids = sequentialIds(random);
  return Array.from({ length: count }, (_, at) => ({ id: ids(), body: bodyOf(at, random) }));
}

/** Bodies for `_bulk_docs`, `size` documents each. */
export function bulkBodies(documents: readonly BenchDocument[], size = 1_000): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at < documents.length; at += size) {
    const docs = documents.slice(at, at + size).map(({ id, body }) => `{"_id":"${id}",${body.slice(1)}`);
    bodies.push(Buffer.from(`{"docs":[${docs.join(',')}]}`));
  }
  return bodies;
}

function bodyOf(at: number, random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  return JSON.stringify({
    type: 'visit',
    number: at,
    name: pick(names),
    email: `patient${at}@example.org`,
    created_at: new Date(1_700_000_000_000 + at * 60_000).toISOString(),
    weight: Math.round(random() * 100_000) / 1_000,
    active: random() < 0.5,
    address: {
      city: pick(cities),
      street: `${Math.floor(random() * 200)} Canal Street`,
      position: { lat: round(random() * 90), lon: round(random() * 180) },
    },
    tags: [pick(tags), pick(tags), pick(tags)],
    note: 'Came by in the morning, measured twice, nothing to report.',
  });
}

const round = (value: number): number => Math.round(value * 1e5) / 1e5;

/** 26 digits that stay for a while and six that grow by small random steps; every id is above the one before. */
function sequentialIds(random: () => number): () => string {
  let prefix = 0;
  let suffix = 0;
  return () => {
    suffix += 1 + Math.floor(random() * 0xffd);
    if (suffix > 0xfff000) {
      prefix++;
      suffix = 1 + Math.floor(random() * 0xffd);
    }
    return `5f0c1d2e3b4a59687766${prefix.toString(16).padStart(6, '0')}${suffix.toString(16).padStart(6, '0')}`;
  };
}

/** Mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
