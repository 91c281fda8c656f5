import { bigrams, changed, elision, lowerCase, possessive, without, type StopWords } from './filters.js';
import { englishStopWords } from './stop-words.js';
import { segmenterTokens, standardTokens } from './tokenizers.js';
import type { Tokenizer } from './token.js';

type Stem = (word: string) => string;

interface Language {
  /** The list in the package of stop words; a list of our own where Lucene's is short and well known. */
  stopWords: string | ReadonlySet<string>;
  stemmer?: () => Promise<{ stemmer: Stem }>;
  tokens?: () => Tokenizer;
  /** Done before the words are compared with the stop words. */
  before?: (term: string) => string;
  after?: (tokens: Tokenizer) => Tokenizer;
}

const snowball =
  (language: string): NonNullable<Language['stemmer']> =>
  async () => {
    const { newStemmer } = (await import('snowball-stemmers')).default;
    const made = newStemmer(language);
    return { stemmer: (word) => made.stem(word) };
  };

const french = 'l m t qu n s j d c jusqu quoiqu lorsqu puisqu';
const italian = 'c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d';

/** Accents and the two forms of the small sigma don't tell Greek words apart. */
const greek = (term: string): string =>
  term.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ς', 'σ');

/** Different keyboards write the same letters in different ways. */
const persian = (term: string): string =>
  term.toLowerCase().replaceAll(/[يى]/g, 'ی').replaceAll('ك', 'ک').replaceAll(/[ةۀ]/g, 'ه');

const languages: Readonly<Record<string, Language>> = {
  arabic: { stopWords: 'ara', stemmer: () => import('@orama/stemmers/arabic') },
  armenian: { stopWords: 'hye', stemmer: () => import('@orama/stemmers/armenian') },
  basque: { stopWords: 'eus', stemmer: snowball('basque') },
  brazilian: { stopWords: 'porBr', stemmer: () => import('@orama/stemmers/portuguese') },
  bulgarian: { stopWords: 'bul', stemmer: () => import('@orama/stemmers/bulgarian') },
  catalan: { stopWords: 'cat', stemmer: snowball('catalan'), before: elision('d l m n s t') },
  chinese: { stopWords: 'zho', tokens: () => segmenterTokens('zh') },
  cjk: { stopWords: englishStopWords, after: bigrams },
  czech: { stopWords: 'ces', stemmer: snowball('czech') },
  danish: { stopWords: 'dan', stemmer: () => import('@orama/stemmers/danish') },
  dutch: { stopWords: 'nld', stemmer: () => import('@orama/stemmers/dutch') },
  english: {
    stopWords: englishStopWords,
    stemmer: () => import('@orama/stemmers/english'),
    before: possessive,
  },
  finnish: { stopWords: 'fin', stemmer: () => import('@orama/stemmers/finnish') },
  french: {
    stopWords: 'fra',
    stemmer: () => import('@orama/stemmers/french'),
    before: elision(french),
  },
  galician: { stopWords: 'glg' },
  german: { stopWords: 'deu', stemmer: () => import('@orama/stemmers/german') },
  greek: { stopWords: 'ell', stemmer: () => import('@orama/stemmers/greek'), before: greek },
  hindi: { stopWords: 'hin', stemmer: () => import('@orama/stemmers/indian') },
  hungarian: { stopWords: 'hun', stemmer: () => import('@orama/stemmers/hungarian') },
  indonesian: { stopWords: 'ind', stemmer: () => import('@orama/stemmers/indonesian') },
  irish: {
    stopWords: 'gle',
    stemmer: () => import('@orama/stemmers/irish'),
    before: elision('d m b'),
  },
  italian: {
    stopWords: 'ita',
    stemmer: () => import('@orama/stemmers/italian'),
    before: elision(italian),
  },
  japanese: { stopWords: 'jpn', tokens: () => segmenterTokens('ja') },
  latvian: { stopWords: 'lav' },
  norwegian: { stopWords: 'nob', stemmer: () => import('@orama/stemmers/norwegian') },
  persian: { stopWords: 'fas', before: persian },
  polish: { stopWords: 'pol' },
  portuguese: { stopWords: 'por', stemmer: () => import('@orama/stemmers/portuguese') },
  romanian: { stopWords: 'ron', stemmer: () => import('@orama/stemmers/romanian') },
  russian: { stopWords: 'rus', stemmer: () => import('@orama/stemmers/russian') },
  spanish: { stopWords: 'spa', stemmer: () => import('@orama/stemmers/spanish') },
  swedish: { stopWords: 'swe', stemmer: () => import('@orama/stemmers/swedish') },
  thai: { stopWords: 'tha', tokens: () => segmenterTokens('th') },
  turkish: {
    stopWords: 'tur',
    stemmer: () => import('@orama/stemmers/turkish'),
    before: (term) => term.toLocaleLowerCase('tr'),
  },
};

/** What cuts texts of a language into stems; undefined where the language is not known. */
export async function languageTokens(
  name: string,
  stopWords: StopWords | undefined,
): Promise<Tokenizer | undefined> {
  const language = Object.hasOwn(languages, name) ? languages[name] : undefined;
  if (language === undefined) return undefined;
  const { tokens = () => standardTokens, before, after, stemmer } = language;
  const lowered = changed(tokens(), ...(before === undefined ? [] : [before]), lowerCase);
  const joined = after === undefined ? lowered : after(lowered);
  const rest = without(joined, stopWords ?? (await stopWordsOf(language)));
  return stemmer === undefined ? rest : changed(rest, (await stemmer()).stemmer);
}

async function stopWordsOf({ stopWords, before = lowerCase }: Language): Promise<ReadonlySet<string>> {
  if (typeof stopWords !== 'string') return stopWords;
  const lists = (await import('stopword')) as unknown as Record<string, readonly string[]>;
  return new Set(lists[stopWords]!.map(before));
}
