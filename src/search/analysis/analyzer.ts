import { badRequest } from '../../base/errors.js';
import { foldToAscii } from './ascii-folding.js';
import { classicTokens } from './classic-tokenizer.js';
import { emailTokens } from './email-tokenizer.js';
import { changed, lowerCase, without, WordSet, type StopWords } from './filters.js';
import { languageTokens } from './languages.js';
import { englishStopWords } from './stop-words.js';
import type { Token, Tokenizer } from './token.js';
import { keywordTokens, letterTokens, standardTokens, whitespaceTokens } from './tokenizers.js';

/** An analyzer as design documents and requests name it, brought into one form. */
export interface AnalyzerDefinition {
  name: string;
  stopWords?: readonly string[];
  /** Of `perfield`. */
  default?: AnalyzerDefinition;
  fields?: readonly (readonly [string, AnalyzerDefinition])[];
}

/** Cuts texts of fields into tokens. */
export interface Analyzer {
  tokens(field: string, text: string): Iterable<Token>;
  /** Where the texts of a field are cut into words as the standard tokenizer does: what becomes of each. */
  ofWord(field: string): ((word: string) => string) | undefined;
  /** Whether the texts of a field are indexed as they are, upper case and all. */
  isKeyword(field: string): boolean;
}

const fieldsMax = 10_000;
const stopWordsMax = 100_000;

/** Reads the value of an analyzer option; undefined if it is not an analyzer. */
export function readAnalyzer(given: unknown, inField = false): AnalyzerDefinition | undefined {
  if (given === undefined) return { name: 'standard' };
  if (typeof given === 'string') return { name: given };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const { name, stopwords, default: fallback, fields } = given as Record<string, unknown>;
  if (typeof name !== 'string') return undefined;
  const definition: AnalyzerDefinition = { name };
  if (Array.isArray(stopwords)) {
    definition.stopWords = stopwords.filter((word) => typeof word === 'string').slice(0, stopWordsMax);
  }
  if (name !== 'perfield') return definition;
  if (inField) return undefined;
  definition.default = readAnalyzer(fallback, true) ?? { name: 'standard' };
  const listed = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [];
  definition.fields = listed
    .slice(0, fieldsMax)
    .map(([field, each]) => [field, readAnalyzer(each, true) ?? definition.default!] as const);
  return definition;
}

/** An analyzer of CouchDB's newer interface, which misspells one of them and leaves no words out of `standard`. */
export function nouveauAnalyzer(given: unknown = 'standard'): unknown {
  if (given === 'standard') return { name: given, stopwords: [] };
  return given === 'portugese' ? 'portuguese' : given;
}

const made = new WeakMap<AnalyzerDefinition, Promise<Analyzer>>();

/** Makes an analyzer, once for each definition. Refuses one whose name is not known; in fields, the default takes its place. */
export function makeAnalyzer(definition: AnalyzerDefinition): Promise<Analyzer> {
  let analyzer = made.get(definition);
  if (analyzer !== undefined) return analyzer;
  analyzer = newAnalyzer(definition);
  made.set(definition, analyzer);
  // What failed may work the next time.
  analyzer.catch(() => made.delete(definition));
  return analyzer;
}

async function newAnalyzer(definition: AnalyzerDefinition): Promise<Analyzer> {
  const fallback = await tokenizerOf(definition.default ?? definition);
  if (fallback === undefined) throw unknownAnalyzer((definition.default ?? definition).name);
  const fields = new Map<string, Tokenizer>();
  for (const [field, each] of definition.fields ?? [])
    fields.set(field, (await tokenizerOf(each)) ?? fallback);
  for (const field of ['_id', '_partition']) fields.set(field, keywordTokens);
  const of = (field: string): Tokenizer => fields.get(field) ?? fallback;
  return {
    tokens: (field, text) => of(field)(text),
    ofWord: (field) => of(field).ofWord,
    isKeyword: (field) => of(field) === keywordTokens,
  };
}

const unknownAnalyzer = (name: string): Error =>
  badRequest(`There is no analyzer named ${name.slice(0, 100)}.`);

/** Those with their own stop words, by name: thousands of fields may have the same. */
const shared = new Map<string, Promise<Tokenizer | undefined>>();

async function tokenizerOf({ name, stopWords }: AnalyzerDefinition): Promise<Tokenizer | undefined> {
  if (stopWords !== undefined) return await newTokenizer(name, new WordSet(stopWords));
  const tokenizer = shared.get(name) ?? newTokenizer(name, undefined);
  if ((await tokenizer) !== undefined) shared.set(name, tokenizer);
  return await tokenizer;
}

async function newTokenizer(name: string, given: StopWords | undefined): Promise<Tokenizer | undefined> {
  const withStopWords = (tokens: Tokenizer): Tokenizer =>
    without(changed(tokens, lowerCase), given ?? englishStopWords);
  switch (name) {
    case 'keyword':
      return keywordTokens;
    case 'whitespace':
      return whitespaceTokens;
    case 'simple':
      return changed(letterTokens, lowerCase);
    case 'simple_asciifolding':
      return changed(letterTokens, lowerCase, foldToAscii);
    case 'standard':
      return withStopWords(standardTokens);
    case 'classic':
      return withStopWords(classicTokens);
    case 'email':
      return withStopWords(emailTokens);
    default:
      return await languageTokens(name, given);
  }
}
