import { RequestError, notFound } from '../base/errors.js';
import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { Rejection } from '../log/rejection.js';
import type { Overlay } from '../storage/overlay.js';
import type { Store, Write } from '../storage/store.js';
import { applyLease, type Lease, type LeaseCommand } from './lease.js';
import { applyShare, type ShareCommand } from './shared-values.js';
import { applyPlace, type PlaceCommand } from './stream-placement.js';
import type { TimeMark } from './time-marks.js';
import type { AutoPurgeSettings, ExpirySettings } from './upkeep-settings.js';

/** What changes the list of databases: the same on every node. `catalogue-codec.ts` has the stored form. */
export type CatalogueCommand =
  | CreateCommand
  | DeleteCommand
  | SetCommand
  | MarkCommand
  | DivideCommand
  | LeaseCommand
  | ShareCommand
  | PlaceCommand;

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

/** One step of the division of a group of a database into several. Each may be taken again. */
export interface DivideCommand {
  type: 'divide';
  name: string;
  instance: number;
  /** Numbers are given to the new groups; they take the place of the group; or they are given up. */
  step: 'begin' | 'swap' | 'abort';
  /** The group that is divided. */
  group: number;
  /** For `begin`: which of its first shards each of the new groups gets. */
  parts: readonly (readonly number[])[];
}

export interface CatalogueResults {
  /** The numbers of the database's groups. */
  create: { groups: readonly number[] };
  delete: { groups: readonly number[] };
  set: undefined;
  mark: undefined;
  /** After `begin`, the numbers of the new groups; otherwise of those that are to be erased. */
  divide: { groups: readonly number[] };
  /** Who has it now. */
  lease: Lease;
  share: undefined;
  place: undefined;
}

/** What is set for a database. Members that were never set are absent. */
export interface DatabaseSettings extends ChangeableSettings {
  /** Eight hexadecimal digits, drawn by lot: tells sequences of this database from those of others that had its name. */
  uuid?: string;
  q: number;
  partitioned?: true;
  /** The stream that its commands come from, in a cluster. */
  stream?: number;
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

/** Settings by which databases are listed too, so that those that have one are found without looking at all others. */
export type ListedSetting = 'auto_purge' | 'expiry';

/** A database as it is stored. `slot` belongs to the node and is only found in catalogues of format 1. */
export interface StoredDatabase extends DatabaseSettings {
  instance: number;
  /** Absent for one group that has all shards, and the number of the database. */
  groups?: readonly StoredGroup[];
  slot?: number;
  /** Present while a group is copied to others. */
  division?: StoredDivision;
}

/** A division under way: the group that is divided, and those that are to take its place. */
export interface StoredDivision {
  group: number;
  targets: readonly StoredGroup[];
}

/** A group of a database. Its number is one of those that instances are given, and is never given again. */
export interface StoredGroup {
  group: number;
  /** Those of the first shards that it has, with all that they were split into. */
  shards: readonly number[];
  /** The group that it was divided from; absent where it was there from the beginning. */
  from?: number;
}

/** The groups of a database. */
const storedGroups = ({ instance, q, groups }: StoredDatabase): readonly StoredGroup[] =>
  groups ?? [{ group: instance, shards: [...Array(q).keys()] }];

/** The numbers of a database's groups, and of those that are to become some. */
const groupNumbers = (record: StoredDatabase): number[] =>
  [...storedGroups(record), ...(record.division?.targets ?? [])].map(({ group }) => group);

interface Meta {
  version: 1;
  next_instance: number;
  /** Commands applied so far: the place in the log. Absent in catalogues of format 1. */
  position?: number;
  /** Belongs to the node and is only found in catalogues of format 1. */
  generations?: number[];
}

export const metaKey = asBytes('m');
export const nameKey = (name: string): Bytes => asBytes('d' + toBytes(name));
export const marksPrefix = asBytes('t');
export const marksKey = (name: string): Bytes => asBytes(marksPrefix + toBytes(name));
/** What the keys of a list of databases begin with. */
export const listPrefixes: Readonly<Record<ListedSetting, Bytes>> = {
  auto_purge: asBytes('a'),
  expiry: asBytes('e'),
};

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
    case 'divide':
      result = divide(command, next_instance, overlay);
      if (command.step === 'begin') next_instance += result.groups.length;
      break;
    case 'lease':
      result = applyLease(command, overlay);
      break;
    case 'share':
      result = applyShare(command, overlay);
      break;
    case 'place':
      result = applyPlace(command, overlay);
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
  for (const prefix of Object.values(listPrefixes)) overlay.remove(asBytes(prefix + toBytes(name)));
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
    key: asBytes(listPrefixes[setting] + toBytes(name)),
    value: isSet(settings[setting]) ? encodeJson({}) : undefined,
  }));

const isSet = (setting: object | undefined): boolean => Object.keys(setting ?? {}).length > 0;

function mark({ name, instance, marks }: MarkCommand, overlay: Overlay): undefined {
  existing(name, overlay, instance);
  if (marks.length === 0) overlay.remove(marksKey(name));
  else overlay.put(marksKey(name), encodeJson(marks));
}

function divide(command: DivideCommand, next: number, overlay: Overlay): CatalogueResults['divide'] {
  const { name, instance, step, group } = command;
  const { division, ...record } = existing(name, overlay, instance);
  const source = storedGroups(record).find((each) => each.group === group);
  if (step === 'begin') {
    if (division !== undefined) throw new Rejection('another group of the database is being divided');
    checkParts(command.parts, source?.shards);
    const targets = command.parts.map((shards, at) => ({ group: next + at, shards, from: group }));
    overlay.put(nameKey(name), encodeJson({ ...record, division: { group, targets } }));
    return { groups: targets.map((target) => target.group) };
  }
  if (division?.group !== group) {
    if (step === 'swap' && source !== undefined)
      throw new Rejection('the division of the group was given up');
    return { groups: [] };
  }
  if (step === 'abort') {
    overlay.put(nameKey(name), encodeJson(record));
    return { groups: division.targets.map((target) => target.group) };
  }
  const groups = storedGroups(record).flatMap((each) => (each.group === group ? division.targets : [each]));
  overlay.put(nameKey(name), encodeJson({ ...record, groups }));
  return { groups: [group] };
}

/** Each of the shards is in one of the parts, and each part has some. */
function checkParts(parts: readonly (readonly number[])[], shards: readonly number[] | undefined): void {
  const given = parts.flat().sort((a, b) => a - b);
  const isDivided = JSON.stringify(given) === JSON.stringify(shards?.toSorted((a, b) => a - b));
  if (!isDivided || parts.length < 2 || parts.some(({ length }) => length === 0))
    throw new Rejection('the shards of a group are not divided among others');
}

/** Refuses where there is none, and where it is not the one that is meant. */
function existing(name: string, overlay: Overlay, instance?: number): StoredDatabase {
  const record = decodeJson<StoredDatabase>(overlay.get(nameKey(name)));
  if (record === undefined || (instance ?? record.instance) !== record.instance) throw databaseMissing();
  return record;
}

export const databaseMissing = (): RequestError => notFound('Database does not exist.');

export const databaseExists = (): RequestError =>
  new RequestError('file_exists', 'The database could not be created, the file already exists.');

export const encodeJson = (value: object): Bytes => toBytes(JSON.stringify(value));

export function decodeJson<T>(bytes: Bytes | undefined): T | undefined {
  return bytes === undefined ? undefined : (JSON.parse(fromBytes(bytes)) as T);
}
