import { storageRefusal } from '../base/storage-errors.js';
import { notFound } from '../base/errors.js';
import { checkName, checkValue, checkWritable, isVariant, kindOf, optionOf } from './checks.js';
import { changedOptions, mergeLayers, withoutValue, withValue, type Values } from './layers.js';
import { newerName, olderNames, splitName } from './older-names.js';
import type { Option } from './options.js';
import { expectation, formatValue, isValue, parseValue, type Value } from './parse-value.js';
import {
  schema,
  type BooleanName,
  type ChoiceName,
  type ChoiceOf,
  type IntegerName,
  type OptionName,
  type TextName,
} from './schema.js';
import {
  readApiFile,
  readHandWrittenFiles,
  replaceInFile,
  sourceOf,
  writeApiFile,
  type Source,
} from './sources.js';

export interface ConfigOptions {
  /** The data folder, with `local.ini`, `local.d/` and the API's own file. Without it nothing is kept on disk. */
  dataDir?: string;
  /** A further file, read before those of the data folder. */
  configFile?: string;
  /** What the command line and the environment say. They win over the files. */
  overrides?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface ChangeOptions {
  /** Whether the change outlives the process; true unless told otherwise. */
  persist?: boolean;
}

export type ChangeListener = (value: string | undefined, section: string, key: string) => void;

/**
 * The live configuration. A value comes from the last of these that has it: the defaults of the schema, the
 * hand-written files, the changes made over the API and kept on disk, the command line and environment, the changes
 * that are not to be kept. A change over the API takes effect at once, also over what the command line said, which
 * counts again after the next start.
 *
 * Every value is text. Options of the schema have typed readers beside that, which parse once per change and not per
 * call, since they stand on the path of every request.
 */
export class Config {
  private handWritten: Source[] = [];
  private api: Source = { sections: new Map() };
  private overrides: Source;
  private unsaved: Source = { sections: new Map() };
  private values: Values = new Map();
  private readonly parsed = new Map<string, Value>();
  private readonly listeners = new Map<string, Set<ChangeListener>>();

  constructor(private readonly options: ConfigOptions = {}) {
    this.overrides = sourceOf(options.overrides ?? {});
    this.read();
    this.merge();
  }

  number(name: IntegerName): number {
    return this.value(name) as number;
  }

  boolean(name: BooleanName): boolean {
    return this.value(name) as boolean;
  }

  choice<Name extends ChoiceName>(name: Name): ChoiceOf<Name> {
    return this.value(name) as ChoiceOf<Name>;
  }

  text(name: TextName): string {
    return this.value(name) as string;
  }

  /** The text of any option; undefined if it is unset and has no default. */
  get(section: string, key: string): string | undefined {
    if (section === 'couchdb' && key === 'database_dir') return this.options.dataDir;
    const option = isVariant(section) ? undefined : optionOf(section, key);
    return this.givenValue(section, key) ?? (option && formatValue(option.default));
  }

  /** The sections that say something else for a part of the requests, such as `[cors:example.com]` for `[cors]`. */
  variants(kind: string): string[] {
    return [...this.values].flatMap(([name, keys]) =>
      isVariant(name) && kindOf(name) === kind && keys.size > 0 ? [name] : [],
    );
  }

  /** What such a section says of an option; undefined if nothing that can be used. */
  variantValue(section: string, name: OptionName): Value | undefined {
    const text = this.values.get(section)?.get(splitName(name)[1]);
    return text === undefined ? undefined : parseValue(schema[name], text);
  }

  section(name: string): Record<string, string> {
    const keys = new Map<string, string>();
    for (const [optionName, option] of Object.entries(schema)) {
      const [section, key] = splitName(optionName);
      if (section === name) keys.set(key, this.givenValue(section, key) ?? formatValue(option.default));
    }
    for (const [key, value] of this.values.get(name) ?? []) keys.set(key, value);
    if (name === 'couchdb' && this.options.dataDir) keys.set('database_dir', this.options.dataDir);
    return Object.fromEntries(keys);
  }

  all(): Record<string, Record<string, string>> {
    const names = new Set(Object.keys(schema).map((name) => splitName(name)[0]));
    for (const [name, keys] of this.values) if (keys.size > 0) names.add(name);
    return Object.fromEntries([...names].sort().map((name) => [name, this.section(name)]));
  }

  /** Changes an option and gives its old value, or the empty text when it had none. */
  set(section: string, key: string, value: string, { persist = true }: ChangeOptions = {}): string {
    this.checkChange(section, key, value.trim());
    const old = this.get(section, key) ?? '';
    this.change(section, key, value.trim(), persist);
    return old;
  }

  /** Refuses what clients may not write or, without a value, take back. A whitelist that can't be read closes everything but itself. */
  checkChange(section: string, key: string, value?: string): void {
    if (value !== undefined) checkName(section, key);
    checkWritable(section, key, this.givenValue('chttpd', 'config_whitelist') ?? '');
    if (value !== undefined) checkValue(section, key, value);
  }

  /** A change that the server makes of its own accord, and keeps if it can: what clients may write does not bind it. */
  adopt(section: string, key: string, value: string | null): void {
    try {
      this.change(section, key, value, true);
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error) && storageRefusal(error) === undefined) throw error;
      this.change(section, key, value, false);
    }
  }

  /** Takes an option back, whatever its source, and gives the value it had. Its default, if any, counts again. */
  delete(section: string, key: string, { persist = true }: ChangeOptions = {}): string {
    this.checkChange(section, key);
    const old = this.get(section, key);
    if (old === undefined) throw notFound('unknown_config_value');
    for (const name of [[section, key] as const, ...olderNames(section, key)]) {
      if (this.values.get(name[0])?.has(name[1])) this.change(...name, null, persist);
    }
    return old;
  }

  /** Reads the files again and forgets the changes that were not to be kept. Nothing changes when one can't be read. */
  reload(): void {
    this.read();
    this.unsaved = { sections: new Map() };
    this.merge();
  }

  /** Takes other values in place of what the command line and the environment said, and tells who listens what has changed. */
  override(values: NonNullable<ConfigOptions['overrides']>): void {
    this.overrides = sourceOf(values);
    this.merge();
  }

  /** Calls back after each change of an option, or of any option of a section. Gives the function that ends it. */
  onChange(section: string, key: string | undefined, listener: ChangeListener): () => void {
    const name = key === undefined ? section : `${section}/${key}`;
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** One line for each value in a file that its option can't have; the default is used in its place. */
  problems(): string[] {
    const lines: string[] = [];
    for (const [section, keys] of this.values) {
      for (const [key, value] of keys) {
        const option = optionOf(section, key);
        if (!option || value === '' || isValue(option, value)) continue;
        const standard = isVariant(section) ? `that of [${kindOf(section)}]` : formatValue(option.default);
        const used = parseValue(option, value) === undefined ? standard : 'it';
        const outcome = used === 'it' ? 'it cannot be used' : `${used} is used`;
        lines.push(`[${section}] ${key} must be ${expectation(option)}; ${outcome}.`);
      }
    }
    return lines;
  }

  /** One line for each option that stands under an older name. */
  hints(): string[] {
    const lines: string[] = [];
    for (const [section, keys] of this.values) {
      for (const key of keys.keys()) {
        const newer = newerName(section, key);
        if (newer === undefined) continue;
        const heeded = this.values.get(newer[0])?.has(newer[1]) ? 'not heeded, as that is set too' : 'heeded';
        lines.push(`[${section}] ${key} is called [${newer[0]}] ${newer[1]} now; it is ${heeded}.`);
      }
    }
    return lines;
  }

  /**
   * Rewrites the values of a section where they stand, in every source, also where a later source hides them: this is
   * how passwords in clear text leave the files. `replace` gives undefined for a value that stays. Files that can't be
   * written keep their text, and are named in the answer.
   */
  async rewriteSection(
    section: string,
    replace: (value: string) => Promise<string | undefined>,
  ): Promise<{ unwritable: string[] }> {
    const unwritable = new Set<string>();
    for (const source of [...this.handWritten, this.api, this.overrides]) {
      for (const [key, value] of source.sections.get(section) ?? []) {
        const replaced = value === null ? undefined : await replace(value);
        if (replaced === undefined) continue;
        source.sections.get(section)?.set(key, replaced);
        try {
          if (source === this.api) writeApiFile(source);
          else if (source.file !== undefined) replaceInFile(source.file, section, key, replaced);
        } catch {
          unwritable.add(source.file ?? '');
        }
      }
    }
    this.merge();
    return { unwritable: [...unwritable] };
  }

  private value(name: OptionName): Value {
    const known = this.parsed.get(name);
    if (known !== undefined) return known;
    const option: Option = schema[name];
    const text = this.givenValue(...splitName(name));
    const value =
      (text === undefined || (text === '' && option.type !== 'text')
        ? undefined
        : parseValue(option, text)) ?? option.default;
    this.parsed.set(name, value);
    return value;
  }

  /** What some source says, without the default. Options that moved are found under their older section too. */
  givenValue(section: string, key: string): string | undefined {
    const value = this.values.get(section)?.get(key);
    if (value !== undefined || !optionOf(section, key)) return value;
    for (const [olderSection, olderKey] of olderNames(section, key)) {
      const found = this.values.get(olderSection)?.get(olderKey);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private change(section: string, key: string, value: string | null, persist: boolean): void {
    if (persist) {
      // Only a hand-written file, which is not ours to edit, makes it necessary to keep a deletion.
      const keep =
        value !== null || this.handWritten.some((source) => source.sections.get(section)?.has(key));
      const sections = keep
        ? withValue(this.api.sections, section, key, value)
        : withoutValue(this.api.sections, section, key);
      const next: Source = { ...this.api, sections };
      writeApiFile(next);
      this.api = next;
      this.overrides.sections.get(section)?.delete(key);
      this.unsaved.sections.get(section)?.delete(key);
    } else {
      this.unsaved = { sections: withValue(this.unsaved.sections, section, key, value) };
    }
    this.merge();
  }

  private read(): void {
    const { configFile, dataDir } = this.options;
    const handWritten = readHandWrittenFiles(configFile, dataDir);
    if (dataDir !== undefined) this.api = readApiFile(dataDir);
    this.handWritten = handWritten;
  }

  private merge(): void {
    const before = this.values;
    const sources = [...this.handWritten, this.api, this.overrides, this.unsaved];
    this.values = mergeLayers(sources.map((source) => source.sections));
    this.parsed.clear();
    for (const [section, key] of changedOptions(before, this.values)) {
      this.tell(section, key);
      const newer = newerName(section, key);
      if (newer !== undefined) this.tell(...newer);
    }
  }

  private tell(section: string, key: string): void {
    const value = this.get(section, key);
    for (const listener of this.listeners.get(kindOf(section)) ?? []) listener(value, section, key);
    for (const listener of this.listeners.get(`${section}/${key}`) ?? []) listener(value, section, key);
  }
}
