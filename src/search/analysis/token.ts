/** A piece of text as it is indexed and searched for. */
export interface Token {
  /** Empty for what is left out: such tokens are passed on, so that who takes long over a text can let others run. */
  term: string;
  /** Where it stands in the text, in UTF-16 units. Both places are the same within a long part of the text without tokens. */
  start: number;
  end: number;
  /** Its number among the tokens; stop words that were left out count, so that phrases don't close over them. */
  position: number;
}

/** Cuts a text into tokens, lazily. */
export interface Tokenizer {
  (text: string): Iterable<Token>;
  /** Where the tokens are the words of the standard tokenizer, what becomes of each; empty for those that are left out. */
  ofWord?: (word: string) => string;
}
