/**
 * CouchDB's dialect of ini files, so that files brought from CouchDB mean the same here.
 *
 * - Sections are flat: a dot in a name is a dot.
 * - A comment is a line that begins with `;` or `#`, or what follows white space and `;`. A `#` inside a value belongs
 *   to the value, as does a `;` without white space before it: passwords and keys hold both.
 * - Values are text, trimmed. A value or key in double quotes is a JSON string; this is how anything else is written.
 * - An indented line without `=` goes on with the value of the line before.
 * - A line with a key alone takes back what an earlier source said of it.
 *
 * The general `ini` package is not used because it cuts values at `#`, nests sections at dots, turns words into
 * booleans and doesn't read back every value it writes; and because replacing one value in a hand-written file needs
 * to know on which lines it stands.
 */
export type Sections = Map<string, Map<string, string | null>>;

/** One option of a file, with the lines it stands on, counted from 0. */
export interface IniEntry {
  section: string;
  key: string;
  /** null when the line has a key alone. */
  value: string | null;
  firstLine: number;
  lastLine: number;
}

const quoted = /^"(?:[^"\\]|\\.)*"/;
const header = /^\[([^\]]*)\]\s*(?:[;#].*)?$/;

export function parseIni(text: string): Sections {
  const sections: Sections = new Map();
  for (const { section, key, value } of iniEntries(text)) {
    const keys = sections.get(section) ?? new Map<string, string | null>();
    keys.set(key, value);
    sections.set(section, keys);
  }
  return sections;
}

export function formatIni(sections: Sections): string {
  const blocks: string[] = [];
  for (const [section, keys] of sections) {
    const lines = [...keys].map(([key, value]) =>
      value === null ? formatKey(key) : `${formatKey(key)} = ${formatText(value)}`,
    );
    if (lines.length > 0) blocks.push(`[${section}]\n${lines.join('\n')}\n`);
  }
  return blocks.join('\n');
}

/** The same text with one option's value replaced wherever it stands; everything else stays byte for byte. */
export function replaceInIni(text: string, section: string, key: string, value: string): string {
  const lines = text.split('\n');
  for (const entry of iniEntries(text).reverse()) {
    if (entry.section !== section || entry.key !== key) continue;
    const ending = lines[entry.lastLine]!.endsWith('\r') ? '\r' : '';
    const line = `${formatKey(key)} = ${formatText(value)}${ending}`;
    lines.splice(entry.firstLine, entry.lastLine - entry.firstLine + 1, line);
  }
  return lines.join('\n');
}

export function iniEntries(text: string): IniEntry[] {
  const entries: IniEntry[] = [];
  let section = '';
  let open: IniEntry | undefined;
  text.split('\n').forEach((raw, number) => {
    const line = (number === 0 ? raw.replace(/^\uFEFF/, '') : raw).trim();
    if (line === '' || line.startsWith(';') || line.startsWith('#')) return;
    const named = header.exec(line);
    if (named) {
      section = named[1]!.trim();
      open = undefined;
      return;
    }
    if (open && /^\s/.test(raw) && !line.includes('=')) {
      open.value = `${open.value ?? ''} ${withoutComment(line)}`.trim();
      open.lastLine = number;
      return;
    }
    const { key, value } = splitLine(line);
    if (key === '') return;
    const entry: IniEntry = { section, key, value, firstLine: number, lastLine: number };
    entries.push(entry);
    open = value === null ? undefined : entry;
  });
  return entries;
}

function splitLine(line: string): { key: string; value: string | null } {
  const quotedKey = quoted.exec(line)?.[0];
  const keyEnd = quotedKey === undefined ? line.indexOf('=') : quotedKey.length;
  const rawKey = keyEnd < 0 ? withoutComment(line) : line.slice(0, keyEnd).trim();
  const key = quotedKey === undefined ? rawKey : unquote(quotedKey);
  const rest = keyEnd < 0 ? '' : line.slice(keyEnd).trimStart();
  return { key, value: rest.startsWith('=') ? readText(rest.slice(1).trim()) : null };
}

function readText(text: string): string {
  const start = quoted.exec(text)?.[0];
  const aloneInQuotes = start !== undefined && /^\s*(?:;.*)?$/.test(text.slice(start.length));
  return aloneInQuotes ? unquote(start) : withoutComment(text);
}

function withoutComment(text: string): string {
  return text.replace(/(?:^|\s);.*$/, '').trim();
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function formatKey(key: string): string {
  return /^[\w.:/@+*-]+$/.test(key) ? key : JSON.stringify(key);
}

function formatText(value: string): string {
  const readsBack =
    value !== '' && value === value.trim() && !/[;"\u0000-\u001f\u007f\ud800-\udfff]/.test(value);
  return readsBack ? value : JSON.stringify(value);
}
