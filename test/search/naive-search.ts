/** A document of the random tests: words of one field, numbers, a kind and tags. */
export interface NaiveDoc {
  words: string[];
  number: number;
  kind: string;
  tags: string[];
}

export type Docs = ReadonlyMap<string, NaiveDoc>;

/** A query as text, and what it comes to when every document is looked at. */
export interface NaiveQuery {
  text: string;
  /** The relevance of a document; undefined where it does not match. */
  score: (doc: NaiveDoc, docs: Docs) => number | undefined;
}

/** What a field has for a document, as terms. */
type Field = (doc: NaiveDoc) => readonly string[];

const k1 = 1.2;
const b = 0.75;
const words: Field = (doc) => doc.words;
const kind: Field = (doc) => [doc.kind];

function relevance(field: Field, frequency: number, having: number, doc: NaiveDoc, docs: Docs): number {
  const total = [...docs.values()].reduce((sum, each) => sum + field(each).length, 0);
  const idf = Math.log(1 + (docs.size - having + 0.5) / (having + 0.5));
  const norm = k1 * (1 - b + (b * field(doc).length) / (total / docs.size));
  return (idf * frequency * (k1 + 1)) / (frequency + norm);
}

const havingOf = (field: Field, word: string, docs: Docs): number =>
  [...docs.values()].filter((doc) => field(doc).includes(word)).length;

type Random = () => number;

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!;

function termQuery(text: string, field: Field, word: string): NaiveQuery {
  return {
    text,
    score: (doc, docs) => {
      const frequency = field(doc).filter((each) => each === word).length;
      return frequency === 0
        ? undefined
        : relevance(field, frequency, havingOf(field, word, docs), doc, docs);
    },
  };
}

function phraseQuery(first: string, second: string, slop: number): NaiveQuery {
  return {
    text: `"${first} ${second}"${slop === 0 ? '' : `~${slop}`}`,
    score: (doc, docs) => {
      const frequency = phraseFrequency(doc.words, first, second, slop);
      if (frequency === 0) return undefined;
      return (
        relevance(words, frequency, havingOf(words, first, docs), doc, docs) +
        relevance(words, frequency, havingOf(words, second, docs), doc, docs)
      );
    },
  };
}

/** From each place of either word to the nearest one of the other behind it: one by the distance from where it belongs. */
function phraseFrequency(all: readonly string[], first: string, second: string, slop: number): number {
  const placesOf = (word: string, less: number): number[] =>
    all.flatMap((each, i) => (each === word ? [i - less] : []));
  const [a, c] = [placesOf(first, 0), placesOf(second, 1)];
  let frequency = 0;
  for (const at of new Set([...a, ...c])) {
    const others = a.includes(at) ? c : a;
    const nearest = Math.min(...others.filter((other) => other >= at));
    if (nearest - at <= slop) frequency += 1 / (1 + nearest - at);
  }
  return frequency;
}

/** Letters to change, add, remove or swap, by trying everything. */
function edits(a: string, c: string): number {
  if (a === '' || c === '') return Math.max(a.length, c.length);
  const same = a[0] === c[0] ? 0 : 1;
  const swapped =
    a[0] === c[1] && a[1] === c[0] && a.length > 1 ? 1 + edits(a.slice(2), c.slice(2)) : Infinity;
  return Math.min(
    edits(a.slice(1), c.slice(1)) + same,
    edits(a.slice(1), c) + 1,
    edits(a, c.slice(1)) + 1,
    swapped,
  );
}

function fuzzyQuery(vocabulary: readonly string[], word: string, most: number): NaiveQuery {
  const close = vocabulary
    .map((each) => ({ word: each, distance: edits(word, each), length: Math.min(word.length, each.length) }))
    .filter(({ distance, length }) => distance <= most && (distance === 0 || length > distance));
  return {
    text: `${word}~${most}`,
    score: (doc, docs) => {
      const scores = close.flatMap(({ word: each, distance, length }) => {
        const score = termQuery('', words, each).score(doc, docs);
        return score === undefined ? [] : [score * (1 - distance / length)];
      });
      return scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0);
    },
  };
}

const constant = (text: string, matches: (doc: NaiveDoc) => boolean): NaiveQuery => ({
  text,
  score: (doc) => (matches(doc) ? 1 : undefined),
});

const someWord = (text: string, matches: (word: string) => boolean): NaiveQuery =>
  constant(text, (doc) => doc.words.some(matches));

const leaves: readonly ((word: string, other: string, low: number, all: readonly string[]) => NaiveQuery)[] =
  [
    (word, other) => phraseQuery(word, other, 0),
    (word, other) => phraseQuery(word, other, 2),
    (word, other) => phraseQuery(word, other, 6),
    (word) => someWord(`${word[0]}*`, (each) => each.startsWith(word[0]!)),
    (word) => someWord(`*${word.at(-1)}`, (each) => each.endsWith(word.at(-1)!)),
    (word) => someWord(`${word[0]}?`, (each) => each.length === 2 && each.startsWith(word[0]!)),
    (word) => someWord(`/${word[0]}.[a-c]?/`, (each) => new RegExp(`^${word[0]}.[a-c]?$`).test(each)),
    (word) => someWord(`{${word} TO zz]`, (each) => each > word && each <= 'zz'),
    (word) => someWord(`[* TO ${word}}`, (each) => each < word),
    (_, __, low) =>
      constant(`number:[${low} TO ${low + 6}]`, ({ number }) => number >= low && number <= low + 6),
    (_, __, low) =>
      constant(`number:{${low} TO ${low + 6}}`, ({ number }) => number > low && number < low + 6),
    (_, __, low) => constant(`number:[${low} TO *]`, ({ number }) => number >= low),
    (_, __, low) => constant(`number:"${low}"`, () => false),
    () => constant('*:*', () => true),
    () => constant('tag:*', ({ tags }) => tags.length > 0),
    () => termQuery('kind:red', kind, 'red'),
    (word, _, __, all) => fuzzyQuery(all, word, 1),
    (word, _, __, all) => fuzzyQuery(all, word, 2),
  ];

function leaf(all: readonly string[], random: Random): NaiveQuery {
  const word = pick(all, random);
  if (random() < 0.3) return termQuery(word, words, word);
  return pick(leaves, random)(word, pick(all, random), Math.floor(random() * 20) - 5, all);
}

function boosted(query: NaiveQuery, random: Random): NaiveQuery {
  if (random() > 0.15) return query;
  const boost = pick([0.5, 2, 3.25], random);
  const scaled = (score: number | undefined): number | undefined =>
    score === undefined ? undefined : score * boost;
  return { text: `${query.text}^${boost}`, score: (doc, docs) => scaled(query.score(doc, docs)) };
}

/** A random query, and the same by looking at everything. */
export function randomQuery(all: readonly string[], random: Random, depth = 0): NaiveQuery {
  if (depth > 2 || random() < 0.4) return boosted(leaf(all, random), random);
  const clauses = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
    sign: pick(['', '', '+', '-'], random),
    query: randomQuery(all, random, depth + 1),
  }));
  const query: NaiveQuery = {
    text: `(${clauses.map(({ sign, query: each }) => sign + each.text).join(' ')})`,
    score: (doc, docs) => {
      const scored = clauses.map(({ sign, query: each }) => ({ sign, score: each.score(doc, docs) }));
      if (scored.some(({ sign, score }) => (sign === '+') === (score === undefined) && sign !== ''))
        return undefined;
      const counted = scored.filter(({ sign, score }) => sign !== '-' && score !== undefined);
      if (counted.length === 0) return undefined;
      return counted.reduce((sum, { score }) => sum + score!, 0);
    },
  };
  return boosted(query, random);
}
