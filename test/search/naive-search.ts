/** A document of the random tests: words of one field, a number and a kind. */
export interface NaiveDoc {
  words: string[];
  number: number;
  kind: string;
}

type Docs = ReadonlyMap<string, NaiveDoc>;

/** A query as text, and what it comes to when every document is looked at. */
export interface NaiveQuery {
  text: string;
  /** The relevance of a document; undefined where it does not match. */
  score: (doc: NaiveDoc, docs: Docs) => number | undefined;
}

const k1 = 1.2;
const b = 0.75;

function relevance(frequency: number, having: number, doc: NaiveDoc, docs: Docs): number {
  const total = [...docs.values()].reduce((sum, { words }) => sum + words.length, 0);
  const idf = Math.log(1 + (docs.size - having + 0.5) / (having + 0.5));
  const norm = k1 * (1 - b + (b * doc.words.length) / (total / docs.size));
  return (idf * frequency * (k1 + 1)) / (frequency + norm);
}

const havingOf = (word: string, docs: Docs): number =>
  [...docs.values()].filter(({ words }) => words.includes(word)).length;

const times = (word: string, { words }: NaiveDoc): number => words.filter((each) => each === word).length;

type Random = () => number;

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!;

function termQuery(word: string): NaiveQuery {
  return {
    text: word,
    score: (doc, docs) => {
      const frequency = times(word, doc);
      return frequency === 0 ? undefined : relevance(frequency, havingOf(word, docs), doc, docs);
    },
  };
}

function phraseQuery(first: string, second: string): NaiveQuery {
  return {
    text: `"${first} ${second}"`,
    score: (doc, docs) => {
      const frequency = doc.words.filter((word, i) => word === first && doc.words[i + 1] === second).length;
      if (frequency === 0) return undefined;
      return (
        relevance(frequency, havingOf(first, docs), doc, docs) +
        relevance(frequency, havingOf(second, docs), doc, docs)
      );
    },
  };
}

const constant = (text: string, matches: (doc: NaiveDoc) => boolean): NaiveQuery => ({
  text,
  score: (doc) => (matches(doc) ? 1 : undefined),
});

function leaf(words: readonly string[], random: Random): NaiveQuery {
  const word = pick(words, random);
  const low = Math.floor(random() * 20) - 5;
  switch (Math.floor(random() * 9)) {
    case 0:
      return phraseQuery(word, pick(words, random));
    case 1:
      return constant(`${word[0]}*`, (doc) => doc.words.some((each) => each.startsWith(word[0]!)));
    case 2:
      return constant(`*${word.at(-1)}`, (doc) => doc.words.some((each) => each.endsWith(word.at(-1)!)));
    case 3:
      return constant(`number:[${low} TO ${low + 6}]`, ({ number }) => number >= low && number <= low + 6);
    case 4:
      return constant(`/${word[0]}.[a-c]?/`, (doc) =>
        doc.words.some((each) => new RegExp(`^${word[0]}.[a-c]?$`).test(each)),
      );
    case 5:
      return constant(`{${word} TO zz]`, (doc) => doc.words.some((each) => each > word && each <= 'zz'));
    default:
      return termQuery(word);
  }
}

/** A random query, and the same by looking at everything. */
export function randomQuery(words: readonly string[], random: Random, depth = 0): NaiveQuery {
  if (depth > 2 || random() < 0.4) return leaf(words, random);
  const clauses = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
    sign: pick(['', '', '+', '-'], random),
    query: randomQuery(words, random, depth + 1),
  }));
  return {
    text: `(${clauses.map(({ sign, query }) => sign + query.text).join(' ')})`,
    score: (doc, docs) => {
      const scored = clauses.map(({ sign, query }) => ({ sign, score: query.score(doc, docs) }));
      if (scored.some(({ sign, score }) => (sign === '+') === (score === undefined) && sign !== ''))
        return undefined;
      const counted = scored.filter(({ sign, score }) => sign !== '-' && score !== undefined);
      if (counted.length === 0) return undefined;
      return counted.reduce((sum, { score }) => sum + score!, 0);
    },
  };
}
