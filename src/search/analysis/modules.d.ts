declare module 'snowball-stemmers' {
  export function newStemmer(language: string): { stem(word: string): string };
}

declare module 'stopword' {
  /** A list of words under the code of each language, beside its functions. */
  const lists: Readonly<Record<string, unknown>>;
  export = lists;
}
