import { RequestError, notFound } from '../base/errors.js';
import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Overlay } from '../storage/overlay.js';
import type { Store, Write } from '../storage/store.js';
import type { TimeMark } from './time-marks.js';

/** What changes the list of databases: the same on every node. `catalogue-codec.ts` has the stored form. */
export type CatalogueCommand = CreateCommand | DeleteCommand | SetCommand | MarkCommand;

export interface CreateCommand {
  type: 'create';
  name: string;
  settings: NewDatabase;
}

/** What is set for a new database. */
export interface NewDatabase extends DatabaseSettings {
  /** The shards of each of its groups; absent for one group that has them all. */
  groups?: readonly (readonly number[])[];
}

export interface DeleteCommand {
  type: 'delete';
  name: string;
}

/** Changes what is set for a database as a whole. */
export interface SetCommand {
  type: 'set';
  name: string;
  /** The database that is meant: by now the name may mean another. */
  instance: number;
  settings: ChangeableSettings;
}

/** Replaces the times that are known for sequences of a database. */
export interface MarkCommand {
  type: 'mark';
  name: string;
  instance: number;
  marks: readonly TimeMark[];
}

export interface CatalogueResults {
  /** The numbers of the database's groups. */
  create: { groups: readonly number[] };
  delete: { groups: readonly number[] };
  set: undefined;
  mark: undefined;
}

/** What is set for a database. Members that were never set are absent. */
export interface DatabaseSettings extends ChangeableSettings {
  /** Eight hexadecimal digits, drawn by lot: tells sequences of this database from those of others that had its name. */
  uuid?: string;
  q: number;
  partitioned?: true;
  /** Absent: by the id. A database marked as partitioned by the first version has none either. */
  placement?: 'partition';
}

export interface ChangeableSettings {
  security?: Record<string, unknown>;
  revs_limit?: number;
  purged_infos_limit?: number;
  auto_purge?: AutoPurgeSettings;
  /** Empty where it was removed. */
  expiry?: ExpirySettings;
}

export interface AutoPurgeSettings {
  /** A period such as `30_days`, `infinity`, or a number of seconds. */
  deleted_document_ttl?: string | number;
}

export interface ExpirySettings {
  /** The member of documents that has the date after which they are deleted. */
  field?: string;
}

/** Settings by which databases are listed too, so that those that have one are found without looking at all others. */
export type ListedSetting = 'auto_purge' | 'expiry';

/** A database as it is stored. `slot` belongs to the node and is only found in catalogues of format 1. */
export interface StoredDatabase extends DatabaseSettings {
  instance: number;
  /** Absent for one group that has all shards, and the number of the database. */
  groups?: readonly StoredGroup[];
  slot?: number;
}

/** A group of a database. Its number is one of those that instances are given, and is never given again. */
export interface StoredGroup {
  group: number;
  /** Those of the first shards that it has, with all that they were split into. */
  shards: readonly number[];
}

/** The numbers of a database's groups. */
const groupNumbers = ({ instance, groups }: StoredDatabase): number[] =>
  groups?.map(({ group }) => group) ?? [instance];

interface Meta {
  version: 1;
  next_instance: number;
  /** Commands applied so far: the place in the log. Absent in catalogues of format 1. */
  position?: number;
  /** Belongs to the node and is only found in catalogues of format 1. */
  generations?: number[];
}

export const metaKey = 'm';
export const nameKey = (name: string): Bytes => 'd' + toBytes(name);
export const marksPrefix = 't';
export const marksKey = (name: string): Bytes => marksPrefix + toBytes(name);
/** What the keys of a list of databases begin with. */
export const listPrefixes: Readonly<Record<ListedSetting, Bytes>> = { auto_purge: 'a', expiry: 'e' };

export const readMeta = (source: Pick<Store, 'get'>): Meta =>
  decodeJson<Meta>(source.get(metaKey)) ?? { version: 1, next_instance: 1 };

/** Applies a command to the part of the catalogue that all nodes share. Throws where it cannot be done. */
export function applyCatalogue(
  command: CatalogueCommand,
  overlay: Overlay,
): { position: number; result: CatalogueResults[CatalogueCommand['type']] } {
  const meta = readMeta(overlay);
  const position = (meta.position ?? 0) + 1;
  let { next_instance } = meta;
  let result: CatalogueResults[CatalogueCommand['type']];
  switch (command.type) {
    case 'create':
      result = create(command, next_instance, overlay);
      next_instance += result.groups.length;
      break;
    case 'delete':
      result = remove(command, overlay);
      break;
    case 'set':
      result = set(command, overlay);
      break;
    case 'mark':
      result = mark(command, overlay);
      break;
  }
  overlay.put(metaKey, encodeJson({ ...meta, next_instance, position }));
  return { position, result };
}

function create(
  { name, settings }: CreateCommand,
  instance: number,
  overlay: Overlay,
): CatalogueResults['create'] {
  const key = nameKey(name);
  if (overlay.get(key) !== undefined) throw databaseExists();
  const { groups, ...others } = settings;
  const record: StoredDatabase = { instance, ...others };
  if (groups !== undefined) record.groups = groups.map((shards, at) => ({ group: instance + at, shards }));
  overlay.put(key, encodeJson(record));
  return { groups: groupNumbers(record) };
}

/** Removes the name at once; the contents are removed later by each node, in small batches. */
function remove({ name }: DeleteCommand, overlay: Overlay): CatalogueResults['delete'] {
  const record = existing(name, overlay);
  for (const key of [nameKey(name), marksKey(name)]) overlay.remove(key);
  for (const prefix of Object.values(listPrefixes)) overlay.remove(prefix + toBytes(name));
  return { groups: groupNumbers(record) };
}

function set({ name, instance, settings }: SetCommand, overlay: Overlay): undefined {
  const record = { ...existing(name, overlay, instance), ...settings };
  overlay.put(nameKey(name), encodeJson(record));
  for (const { key, value } of listWrites(name, record)) {
    if (value !== undefined) overlay.put(key, value);
    else overlay.remove(key);
  }
}

/** Lists a database by the settings that it has. */
export const listWrites = (name: string, settings: DatabaseSettings): Write[] =>
  (Object.keys(listPrefixes) as ListedSetting[]).map((setting) => ({
    key: listPrefixes[setting] + toBytes(name),
    value: isSet(settings[setting]) ? encodeJson({}) : undefined,
  }));

const isSet = (setting: object | undefined): boolean => Object.keys(setting ?? {}).length > 0;

function mark({ name, instance, marks }: MarkCommand, overlay: Overlay): undefined {
  existing(name, overlay, instance);
  if (marks.length === 0) overlay.remove(marksKey(name));
  else overlay.put(marksKey(name), encodeJson(marks));
}

/** Refuses where there is none, and where it is not the one that is meant. */
function existing(name: string, overlay: Overlay, instance?: number): StoredDatabase {
  const record = decodeJson<StoredDatabase>(overlay.get(nameKey(name)));
  if (record === undefined || (instance ?? record.instance) !== record.instance) throw databaseMissing();
  return record;
}

const databaseMissing = (): RequestError => notFound('Database does not exist.');

export const databaseExists = (): RequestError =>
  new RequestError('file_exists', 'The database could not be created, the file already exists.');

export const encodeJson = (value: object): Bytes => toBytes(JSON.stringify(value));

export function decodeJson<T>(bytes: Bytes | undefined): T | undefined {
  return bytes === undefined ? undefined : (JSON.parse(fromBytes(bytes)) as T);
}
