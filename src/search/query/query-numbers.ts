/** Reads a text of a query as a number; undefined if it is not a number. */
export type NumberReader = (text: string) => number | undefined;

/** What counts as a number in a query, as in CouchDB. */
const number = /^[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

export const plainNumber: NumberReader = (text) => (number.test(text) ? Number(text) : undefined);

/** Reads numbers as they are written in a language, with or without separators of thousands; undefined for a malformed tag. */
export function numbersOf(locale: string): NumberReader | undefined {
  const marks = marksOf(locale);
  if (marks === undefined) return undefined;
  const { digits, decimal, group } = marks;
  return (text) => {
    let plain = '';
    for (const character of text) {
      const digit = digits.indexOf(character);
      if (digit >= 0) plain += String(digit);
      else if (character === decimal) plain += '.';
      else if (character !== group) plain += character;
    }
    // A decimal point that is none in this language must not become one.
    return text.includes('.') && decimal !== '.' && group !== '.' ? undefined : plainNumber(plain);
  };
}

interface Marks {
  digits: readonly string[];
  decimal: string;
  group: string;
}

/** Longer tags take time to read, and mean nothing. */
const localeCharsMax = 100;

function marksOf(locale: string): Marks | undefined {
  if (locale.length > localeCharsMax) return undefined;
  try {
    // Java, which CouchDB passes it to, writes `de_DE` and takes an unknown language for none.
    const tag = locale.replaceAll('_', '-');
    const [known = 'en'] = Intl.NumberFormat.supportedLocalesOf(tag);
    const parts = new Intl.NumberFormat(known, { useGrouping: true }).formatToParts(1_234_567.5);
    const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
    const ten = new Intl.NumberFormat(known, { useGrouping: false }).format(9_876_543_210);
    return { digits: [...ten].reverse(), decimal: of('decimal'), group: of('group') };
  } catch {
    return undefined;
  }
}
