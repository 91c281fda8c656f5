import { badRequest } from '../base/errors.js';
import { phraseFrequency } from './phrase.js';
import type { Plan } from './plan.js';
import type { DocRange, SearchReader } from './search-reader.js';
import { TooMuchWork, Work } from './work.js';

/** Documents in the order of their numbers, and how relevant each is. */
export interface Found {
  docs: number[];
  scores: number[];
}

const nothing: Found = { docs: [], scores: [] };

/** A few documents are looked up one by one where a term has this many times more. */
const seekFactor = 16;

/**
 * The documents of a range that match each of several plans, read at one moment. Undefined where that would take too long: then the range has become smaller,
 * and others are to be let run before it is tried again.
 */
export function evaluate(reader: SearchReader, plans: readonly Plan[], range: DocRange): Found[] | undefined {
  const work = new Work(range.to - range.from);
  try {
    return plans.map((plan) => matching(reader, plan, range, undefined, work));
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    const size = range.to - range.from;
    if (size === 1)
      throw badRequest(
        'The query has too many words for a document of the index in which they stand very often.',
      );
    range.to = Math.max(range.from + 1, Math.min(error.doc, range.from + Math.ceil(size / 2)));
    return undefined;
  }
}

/** `only` names the documents that others leave: it saves work, and what is found may hold more. */
function matching(
  reader: SearchReader,
  plan: Plan,
  range: DocRange,
  only: readonly number[] | undefined,
  work: Work,
): Found {
  switch (plan.kind) {
    case 'none':
      return nothing;
    case 'all': {
      const docs = Array.from(reader.allDocs(range), ({ doc }) => doc);
      return { docs, scores: docs.map(() => plan.boost) };
    }
    case 'bits': {
      const docs = plan.bits.between(range.from, range.to);
      return { docs, scores: docs.map(() => plan.boost) };
    }
    case 'term':
      return termDocs(reader, plan, range, only, work);
    case 'phrase':
      return phraseDocs(reader, plan, range, only, work);
    case 'bool':
      return boolDocs(reader, plan, range, only, work);
  }
}

function termDocs(
  reader: SearchReader,
  { key, score, boost, docs: count }: Extract<Plan, { kind: 'term' }>,
  range: DocRange,
  only: readonly number[] | undefined,
  work: Work,
): Found {
  const { docs, frequencies, lengths, boosts } =
    only !== undefined && only.length * seekFactor < count
      ? reader.postingsOf(key, only, work)
      : reader.postings(key, range, { work });
  const scores = frequencies;
  for (let i = 0; i < docs.length; i++) scores[i] = score(frequencies[i]!, lengths[i]!) * boost * boosts[i]!;
  return { docs, scores };
}

function phraseDocs(
  reader: SearchReader,
  { terms, slop, score, boost }: Extract<Plan, { kind: 'phrase' }>,
  range: DocRange,
  only: readonly number[] | undefined,
  work: Work,
): Found {
  // A word that stands in the phrase several times is read once.
  const keys = [...new Set(terms.map(({ key }) => key))];
  const places = new Map(keys.map((key, i) => [key, i]));
  const postings = keys.map((key) => reader.postings(key, range, { hasPositions: true, work }));
  let docs: readonly number[] = postings[0]!.docs;
  for (const { docs: others } of postings.slice(1)) docs = common(docs, others);
  if (only !== undefined) docs = common(docs, only);
  const found: Found = { docs: [], scores: [] };
  const next = postings.map(() => 0);
  for (const doc of docs) {
    work.doc = doc;
    work.spend(terms.length);
    for (const [i, { docs: own }] of postings.entries()) while (own[next[i]!]! < doc) next[i]!++;
    const positions = postings.map((each, i) => {
      work.spend(each.frequencies[next[i]!]!);
      return each.positions(next[i]!);
    });
    const words = terms.map(({ key, at }) => ({ at, positions: positions[places.get(key)!]! }));
    const frequency = phraseFrequency(words, slop, work);
    if (frequency === 0) continue;
    const { lengths, boosts } = postings[0]!;
    found.docs.push(doc);
    found.scores.push(score(frequency, lengths[next[0]!]!) * boost * boosts[next[0]!]!);
  }
  return found;
}

function boolDocs(
  reader: SearchReader,
  { must, should, not, boost }: Extract<Plan, { kind: 'bool' }>,
  range: DocRange,
  only: readonly number[] | undefined,
  work: Work,
): Found {
  let found: Found | undefined;
  for (const plan of must.toSorted((a, b) => cost(a) - cost(b))) {
    const next = matching(reader, plan, range, found?.docs ?? only, work);
    found = found === undefined ? next : intersection(found, next);
    if (found.docs.length === 0) return nothing;
  }
  if (found === undefined) {
    for (const plan of should) {
      const next = matching(reader, plan, range, only, work);
      found = found === undefined ? next : union(found, next);
    }
  } else for (const plan of should) found = added(found, matching(reader, plan, range, found.docs, work));
  if (found === undefined) return nothing;
  for (const plan of not) found = difference(found, matching(reader, plan, range, found.docs, work).docs);
  return boost === 1 ? found : { docs: found.docs, scores: found.scores.map((score) => score * boost) };
}

/** About how many documents it finds: the rarest are looked at first. */
function cost(plan: Plan): number {
  if (plan.kind === 'none') return 0;
  if (plan.kind === 'term' || plan.kind === 'phrase') return plan.docs;
  return Infinity;
}

function common(a: readonly number[], b: readonly number[]): number[] {
  const docs: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) docs.push(a[i]!);
    if (a[i]! <= b[j]!) i++;
    else j++;
  }
  return docs;
}

function intersection(a: Found, b: Found): Found {
  const found: Found = { docs: [], scores: [] };
  for (let i = 0, j = 0; i < a.docs.length && j < b.docs.length;) {
    const [left, right] = [a.docs[i]!, b.docs[j]!];
    if (left === right) {
      found.docs.push(left);
      found.scores.push(a.scores[i]! + b.scores[j]!);
    }
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return found;
}

function union(a: Found, b: Found): Found {
  const found: Found = { docs: [], scores: [] };
  for (let i = 0, j = 0; i < a.docs.length || j < b.docs.length;) {
    const left = a.docs[i] ?? Infinity;
    const right = b.docs[j] ?? Infinity;
    found.docs.push(Math.min(left, right));
    found.scores.push((left <= right ? a.scores[i]! : 0) + (right <= left ? b.scores[j]! : 0));
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return found;
}

/** The documents of the first, with what the second adds to their relevance. */
function added(a: Found, b: Found): Found {
  let j = 0;
  const scores = a.docs.map((doc, i) => {
    while (j < b.docs.length && b.docs[j]! < doc) j++;
    return a.scores[i]! + (b.docs[j] === doc ? b.scores[j]! : 0);
  });
  return { docs: a.docs, scores };
}

function difference(a: Found, docs: readonly number[]): Found {
  const found: Found = { docs: [], scores: [] };
  let j = 0;
  for (const [i, doc] of a.docs.entries()) {
    while (j < docs.length && docs[j]! < doc) j++;
    if (docs[j] === doc) continue;
    found.docs.push(doc);
    found.scores.push(a.scores[i]!);
  }
  return found;
}
