/** Letters that are no ASCII letter with a mark, and are written with ASCII letters anyway. */
const others: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'TH',
  ł: 'l',
  Ł: 'L',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  ĸ: 'q',
  ŋ: 'n',
  Ŋ: 'N',
  ŧ: 't',
  Ŧ: 'T',
  ə: 'a',
  ƒ: 'f',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
};

/** Gives letters without their marks, as Lucene's ASCIIFoldingFilter does; what has no ASCII form stays. */
export function foldToAscii(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, (character) => others[character] ?? plain(character));
}

function plain(character: string): string {
  const base = character.normalize('NFKD').replace(/\p{M}/gu, '');
  return /^[\x00-\x7f]+$/.test(base) ? base : character;
}
