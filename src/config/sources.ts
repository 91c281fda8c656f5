import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { writeFileAtomically } from './atomic-file.js';
import { formatIni, parseIni, replaceInIni, type Sections } from './ini.js';

/** One place that options come from. A later source wins over an earlier one. */
export interface Source {
  /** Absent for sources that live in memory only. */
  file?: string;
  sections: Sections;
}

const apiFileHeader = `; Written by the server: changes made over the configuration API. It stands over local.ini and
; local.d/*.ini, which are yours to edit; the server reads this file at start and on POST /_node/_local/_config/_reload.

`;

/** The hand-written files, in the order in which they are read. Absent ones are left out. */
export function readHandWrittenFiles(configFile: string | undefined, dataDir: string | undefined): Source[] {
  return handWrittenTexts(configFile, dataDir).map(({ file, text }) => ({ file, sections: parseIni(text) }));
}

/** The same as texts. The order is CouchDB's; the file that is named stands between what it calls default and local. */
function handWrittenTexts(
  configFile: string | undefined,
  dataDir: string | undefined,
): { file: string; text: string }[] {
  const found: { file: string; text: string }[] = [];
  const take = (file: string): boolean => {
    const text = readText(file);
    if (text !== undefined) found.push({ file, text });
    return text !== undefined;
  };
  for (const file of filesOf('default', dataDir)) take(file);
  if (configFile !== undefined && !take(configFile)) {
    throw new StartupError(`The configuration file ${configFile} does not exist.`);
  }
  for (const file of filesOf('local', dataDir)) take(file);
  return found;
}

/** Every file that options come from, as a text, in the order in which they are read. */
export function configTexts(
  configFile: string | undefined,
  dataDir: string,
): { file: string; text: string }[] {
  const file = apiFileIn(dataDir);
  const text = readText(file);
  return [...handWrittenTexts(configFile, dataDir), ...(text === undefined ? [] : [{ file, text }])];
}

const apiFileIn = (dataDir: string): string => path.join(dataDir, 'config-api.ini');

function filesOf(kind: 'default' | 'local', dataDir: string | undefined): string[] {
  if (dataDir === undefined) return [];
  return [path.join(dataDir, `${kind}.ini`), ...iniFilesIn(path.join(dataDir, `${kind}.d`))];
}

export function readApiFile(dataDir: string | undefined): Source {
  if (dataDir === undefined) return { sections: new Map() };
  const file = apiFileIn(dataDir);
  return { file, sections: parseIni(readText(file) ?? '') };
}

export function writeApiFile(source: Source): void {
  if (source.file === undefined) return;
  fs.mkdirSync(path.dirname(source.file), { recursive: true });
  writeFileAtomically(source.file, apiFileHeader + formatIni(source.sections), 0o600);
}

/** Replaces one value in a hand-written file and leaves the rest of its text alone. */
export function replaceInFile(file: string, section: string, key: string, value: string): void {
  // The file itself and not a link to it is replaced, with the rights it had.
  const target = fs.realpathSync(file);
  const text = fs.readFileSync(target, 'utf8');
  const replaced = replaceInIni(text, section, key, value);
  if (replaced !== text) writeFileAtomically(target, replaced, fs.statSync(target).mode & 0o777);
}

export function sourceOf(options: Readonly<Record<string, Readonly<Record<string, string>>>>): Source {
  const sections: Sections = new Map();
  for (const [section, keys] of Object.entries(options)) {
    sections.set(section, new Map(Object.entries(keys).map(([key, value]) => [key, value.trim()])));
  }
  return { sections };
}

function iniFilesIn(folder: string): string[] {
  try {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith('.ini') && !name.startsWith('.'));
    return names.sort().map((name) => path.join(folder, name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw unreadable(folder, error);
  }
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw unreadable(file, error);
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function unreadable(file: string, cause: unknown): StartupError {
  return new StartupError(`${file} can't be read: ${(cause as Error).message}`, { cause });
}
