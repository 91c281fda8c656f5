/** The kinds of options that `schema.ts` is made of. */
export interface IntegerOption {
  type: 'integer';
  default: number;
  min: number;
  max: number;
  /** Whether the word `infinity` (no limit) is a value too. */
  infinity: boolean;
  meaning: string;
}

export interface BooleanOption {
  type: 'boolean';
  default: boolean;
  meaning: string;
}

export interface ChoiceOption<Choice extends string = string> {
  type: 'choice';
  default: Choice;
  choices: readonly Choice[];
  meaning: string;
}

export interface TextOption {
  type: 'text';
  default: string;
  meaning: string;
  /** What the text must look like, and that in words. */
  pattern?: RegExp;
  expected?: string;
  /**
   * Whether it can be used, beyond the pattern. One that can't is refused over the API; in a file it stays and is
   * reported, since the default might let in more.
   */
  isUsable?: (text: string) => boolean;
}

export type Option = IntegerOption | BooleanOption | ChoiceOption | TextOption;

export const integer = (standard: number, min: number, max: number, meaning: string): IntegerOption => ({
  type: 'integer',
  default: standard,
  min,
  max,
  infinity: false,
  meaning,
});

/** A limit that can be lifted. */
export const limit = (standard: number, min: number, meaning: string): IntegerOption => ({
  type: 'integer',
  default: standard,
  min,
  max: Number.MAX_SAFE_INTEGER,
  infinity: true,
  meaning,
});

export const boolean = (standard: boolean, meaning: string): BooleanOption => ({
  type: 'boolean',
  default: standard,
  meaning,
});

export const choice = <const Choice extends string>(
  standard: NoInfer<Choice>,
  choices: readonly Choice[],
  meaning: string,
): ChoiceOption<Choice> => ({ type: 'choice', default: standard, choices, meaning });

export const text = (standard: string, meaning: string): TextOption => ({
  type: 'text',
  default: standard,
  meaning,
});

/** Text of a certain form. The empty text is always a value: it means that nothing is set. */
export const formed = (standard: string, pattern: RegExp, expected: string, meaning: string): TextOption => ({
  ...text(standard, meaning),
  pattern,
  expected,
});

/** Text that is looked at more closely when it is set. */
export const checked = (
  standard: string,
  isUsable: (text: string) => boolean,
  expected: string,
  meaning: string,
): TextOption => ({ ...text(standard, meaning), isUsable, expected });
