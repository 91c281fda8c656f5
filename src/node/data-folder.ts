import fs from 'node:fs';
import path from 'node:path';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import { storageRefusal } from '../base/storage-errors.js';

/** Raised when a folder written by this version can no longer be read by the one before. */
export const folderFormat = 5;
/** From this one on, records of the stores have checksums. */
const checksumsFormat = 4;

/** Whether the stores of a folder of this format are as this version writes them. */
export const isUpToDate = (format: number): boolean => format >= checksumsFormat;

/** Folders in use by servers of this very process, which a look at process numbers could not tell apart. */
const lockedHere = new Set<string>();

/**
 * The folder that holds a server's data: `tuffet.json` (format and server id), `lock` while it is in use, and the
 * stores. Nothing is touched before it is clear that the folder is ours.
 */
export class DataFolder {
  private constructor(
    readonly folder: string,
    private identity: Identity,
    /** How many servers in a row have used the folder and ended without closing it. */
    readonly crashes: number,
  ) {}

  get uuid(): string {
    return this.identity.uuid;
  }

  /** The id of the catalogue that this folder is used with; undefined in a new folder, or one of the first versions. */
  get catalogueId(): string | undefined {
    return this.identity.catalogue;
  }

  set catalogueId(catalogue: string) {
    this.identity = { ...this.identity, catalogue };
    writeIdentity(this.folder, this.identity);
  }

  /** Keeps earlier versions from a folder that they could not read any more. To be called before the first such change. */
  raiseFormat(): void {
    if (this.identity.format === folderFormat) return;
    this.identity = { ...this.identity, format: folderFormat };
    writeIdentity(this.folder, this.identity);
  }

  /** Whether records of its stores may still have no checksums: the folder is of an earlier version, or its upgrade was cut short. */
  get lacksChecksums(): boolean {
    return this.identity.format < checksumsFormat || this.identity.adding_checksums === true;
  }

  /** To be called before the first record gets its checksum. */
  beginChecksums(): void {
    this.identity = { ...this.identity, format: folderFormat, adding_checksums: true };
    writeIdentity(this.folder, this.identity);
  }

  /** To be called when all have theirs. */
  endChecksums(): void {
    delete this.identity.adding_checksums;
    writeIdentity(this.folder, this.identity);
  }

  static open(folder: string, runtime: Runtime = new SystemRuntime()): DataFolder {
    const full = path.resolve(folder);
    checkFormat(full);
    makeFolder(full);
    const crashes = lock(full);
    try {
      return new DataFolder(full, identity(full, runtime), crashes);
    } catch (error) {
      unlock(full);
      throw error;
    }
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  release(): void {
    unlock(this.folder);
  }
}

/** What can be said of a data folder without using it. */
export interface FolderState {
  /** Why the folder can't be used by this version. */
  problem?: string;
  /** The process that uses it. */
  holder?: number;
  /** A lock stands there whose process is gone. */
  staleLock: boolean;
  /** CouchDB has, or had, its files here. */
  isCouchdb: boolean;
}

export function inspectFolder(folder: string): FolderState {
  const file = path.join(folder, 'lock');
  const holder = holderOf(file);
  const state: FolderState = {
    staleLock: holder === undefined && fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined,
    isCouchdb: fs.existsSync(path.join(folder, '_dbs.couch')) || fs.existsSync(path.join(folder, 'shards')),
    ...(holder === undefined ? {} : { holder }),
  };
  try {
    checkFormat(folder);
  } catch (error) {
    state.problem = (error as Error).message;
  }
  return state;
}

interface Identity {
  format: number;
  uuid: string;
  catalogue?: string;
  /** Written by a restore, for the backups that follow. */
  history?: string;
  /** Some of the stores may still be without checksums. */
  adding_checksums?: true;
}

function readIdentity(folder: string): Identity | undefined {
  const file = path.join(folder, 'tuffet.json');
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartupError(`The data folder ${folder} cannot be read: ${(error as Error).message}`);
  }
  try {
    return (JSON.parse(text) ?? {}) as Identity;
  } catch {
    throw damagedIdentity(folder);
  }
}

const damagedIdentity = (folder: string): StartupError =>
  new StartupError(
    `The file ${path.join(folder, 'tuffet.json')} is damaged: it should hold the format and the id of the server. Restore it from a backup.`,
  );

function checkFormat(folder: string): void {
  if (fs.existsSync(path.join(folder, 'backup.json'))) {
    throw new StartupError(
      `${folder} is a backup, and shares files with others. Restore it: tuffet restore --from ${folder} --data DIR`,
    );
  }
  const format = readIdentity(folder)?.format ?? folderFormat;
  if (format > folderFormat) {
    throw new StartupError(
      `The data folder ${folder} has format ${format}, written by a newer version; this one reads up to ${folderFormat}.`,
    );
  }
}

function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK);
  } catch (error) {
    throw new StartupError(`The data folder ${folder} cannot be written: ${(error as Error).message}`);
  }
}

function identity(folder: string, runtime: Runtime): Identity {
  const known = readIdentity(folder);
  if (known !== undefined) {
    if (typeof known.uuid !== 'string') throw damagedIdentity(folder);
    return known;
  }
  if (holdsStores(folder)) {
    throw new StartupError(
      `The file ${path.join(folder, 'tuffet.json')} is missing from a data folder that is in use. Nothing was changed. ` +
        `Restore it from a backup; without one, write {"format":${folderFormat},"uuid":"ID"} into it, where ID is the "uuid" that ` +
        'GET / showed, or any 32 hexadecimal digits.',
    );
  }
  const made = { format: folderFormat, uuid: runtime.randomHex(16) };
  writeIdentity(folder, made);
  return made;
}

const holdsStores = (folder: string): boolean =>
  ['catalogue', 'documents'].some((name) => fs.existsSync(path.join(folder, name)));

function writeIdentity(folder: string, identity: Identity): void {
  const file = path.join(folder, 'tuffet.json');
  fs.writeFileSync(`${file}.new`, `${JSON.stringify(identity)}\n`, { flush: true });
  fs.renameSync(`${file}.new`, file);
  syncEntry(folder);
}

/** Makes the names of a folder's files last, where the system can do that. */
function syncEntry(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

/**
 * The lock names its holder by process number and time of start, so that a reused number is not taken for it. Gives how
 * many holders in a row have left theirs behind.
 */
function lock(folder: string): number {
  const file = path.join(folder, 'lock');
  if (lockedHere.has(folder)) throw inUse(folder, process.pid);
  let crashes = 0;
  if (!create(file, folder, 0)) {
    // Of several who find the lock of a dead process, one may clear it away.
    const clearing = `${file}.clearing`;
    if (!create(clearing, folder, 0) && holderOf(clearing) !== undefined)
      throw inUse(folder, holderOf(clearing));
    try {
      const holder = holderOf(file);
      if (holder !== undefined) throw inUse(folder, holder);
      crashes = 1 + crashesBefore(file);
      fs.rmSync(file, { force: true });
      if (!create(file, folder, crashes)) throw inUse(folder, holderOf(file));
    } finally {
      fs.rmSync(clearing, { force: true });
    }
  }
  lockedHere.add(folder);
  return crashes;
}

/** Makes a lock file; false where there is one. A full disk has no room for a file's text, but for that of a link. */
function create(file: string, folder: string, crashes: number): boolean {
  const text = `${process.pid} ${startOf(process.pid)} ${crashes}`;
  try {
    try {
      fs.writeFileSync(file, `${text}\n`, { flag: 'wx' });
    } catch (error) {
      if (storageRefusal(error)?.error !== 'insufficient_storage') throw error;
      fs.rmSync(file, { force: true });
      fs.symlinkSync(text, file);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new StartupError(`The data folder ${folder} cannot be written: ${(error as Error).message}`);
  }
}

function unlock(folder: string): void {
  lockedHere.delete(folder);
  fs.rmSync(path.join(folder, 'lock'), { force: true });
}

const inUse = (folder: string, pid: number | undefined): StartupError =>
  new StartupError(
    `The data folder ${folder} is in use by another server${pid === undefined ? '' : ` (process ${pid})`}.`,
  );

/** Process number, its start, and how many holders before it have crashed; fewer numbers, or none, where it says less. */
function readLock(file: string): number[] {
  try {
    const text = fs.lstatSync(file).isSymbolicLink() ? fs.readlinkSync(file) : fs.readFileSync(file, 'utf8');
    return text.trim().split(' ').map(Number);
  } catch {
    return [];
  }
}

const crashesBefore = (file: string): number => readLock(file)[2] || 0;

/** The process that holds a lock, or undefined where it is gone. */
function holderOf(file: string): number | undefined {
  const [pid = NaN, start] = readLock(file);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  return startOf(pid) === start ? pid : undefined;
}

/** When a process began, in the kernel's ticks; 0 where the system does not tell. */
function startOf(pid: number): number {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return 0;
  }
}
