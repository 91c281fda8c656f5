import fs from 'node:fs';
import path from 'node:path';
import { fromBytes, u48, type Bytes } from '../../base/bytes.js';
import { toHex } from '../../shard/blob-record.js';
import { filesPrefix } from '../../shard/volume-blobs.js';
import { volumeBytesKey } from '../../shard/write-view.js';
import { Catalogue, groupsOf } from '../../node/catalogue.js';
import { DataFolder } from '../../node/data-folder.js';
import { instancesIn } from '../../node/instances.js';
import { needsUpgrade } from '../../shard/upgrade-volume.js';
import { LmdbStore } from '../../storage/lmdb-store.js';
import { lmdbProblem } from '../../storage/lmdb-pages.js';
import type { Write } from '../../storage/store.js';
import { digestFile } from '../copy-files.js';
import { bytesOfGroup } from '../copy-group.js';
import { BlobCheck } from './blob-check.js';
import { DamagedRecords, damagedKeys, SoundRecords } from './damaged-records.js';
import { DatabaseCheck } from './database-check.js';
import type { CheckFinding, CheckSummary, Findings } from './finding.js';
import { refuseNode } from '../refuse-node.js';

export interface CheckEvents {
  /** What is looked at from now on: it is to blame if the process ends. */
  at(what: string): void;
  found(finding: CheckFinding): void;
}

const writesAtOnce = 1_000;
const earlierVersion = 'It is of an earlier version. Start the server once, which upgrades it.';
const volumeName = /^(\d+)\.(\d+)$/;

/** Keys before this one are those of the volume itself. */
const firstDatabaseKey = '\0\0\0\0\x01';

const instanceOf = (key: Bytes): number => Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5);

/** What is wrong with the records of a store, as the end of a sentence that begins with its name. */
async function recordsProblem(folder: string): Promise<string | undefined> {
  try {
    const store = new LmdbStore(folder);
    try {
      if (!store.hasChecksums) return 'does not say that its records have checksums';
      const damaged = damagedKeys(store).length;
      return damaged === 0 ? undefined : `has ${damaged} damaged records`;
    } finally {
      await store.close();
    }
  } catch (error) {
    return `can't be opened: ${(error as Error).message}`;
  }
}

/** Walks over everything that a data folder holds. To be run in a process of its own: damaged pages may end it. */
export async function checkFolder(
  dataDir: string,
  repair: boolean,
  events: CheckEvents,
): Promise<CheckSummary> {
  const folder = DataFolder.open(dataDir);
  try {
    return await new FolderCheck(folder, repair, events).run();
  } finally {
    folder.release();
  }
}

const copyAgain = 'Empty it, and start the node: it copies the databases of another one.';

class FolderCheck implements Findings {
  readonly #summary: CheckSummary = { databases: 0, documents: 0, attachments: 0 };
  readonly #files = new Set<string>();

  constructor(
    private readonly folder: DataFolder,
    private readonly repair: boolean,
    private readonly events: CheckEvents,
  ) {}

  async run(): Promise<CheckSummary> {
    if (!this.folder.lacksChecksums) await this.#checkIndexes();
    if (!this.#isReadable('catalogue')) return this.#summary;
    const store = this.#openStore('catalogue');
    if (store === undefined) return this.#summary;
    const catalogue = new Catalogue(store, () => {});
    try {
      if (this.repair) refuseNode(catalogue, this.folder.folder, copyAgain);
      this.events.at(this.folder.path('catalogue'));
      if (this.#isCatalogueSound(store) && this.#isNamed(catalogue))
        for (const [slot, generation] of catalogue.generations().entries())
          await this.#checkVolume(catalogue, slot, generation);
    } finally {
      await catalogue.close();
    }
    await this.#checkFiles();
    return this.#summary;
  }

  /** Undefined, with a finding, where its records can't be told from damaged ones. */
  #openStore(name: string): LmdbStore | undefined {
    const folder = this.folder.path(name);
    try {
      const store = new LmdbStore(folder);
      if (store.hasChecksums) return store;
      void store.close();
      this.add(
        folder,
        this.folder.lacksChecksums ? earlierVersion : 'It does not say that its records have checksums.',
      );
    } catch (error) {
      this.add(folder, `The store can't be opened: ${(error as Error).message}.`);
    }
    return undefined;
  }

  #isNamed({ id }: Catalogue): boolean {
    const { catalogueId } = this.folder;
    const isNamed = catalogueId === undefined || catalogueId === id;
    if (!isNamed) this.add(this.folder.path('tuffet.json'), 'It does not name the catalogue beside it.');
    return isNamed;
  }

  /** Without all of the catalogue, what volumes hold can't be judged. */
  #isCatalogueSound(store: LmdbStore): boolean {
    const damaged = damagedKeys(store);
    for (const key of damaged) {
      const about = key.startsWith('d')
        ? `the database ${fromBytes(key.slice(1))}`
        : this.folder.path('catalogue');
      this.add(
        about,
        'A record of the catalogue is damaged: its checksum is wrong. Restore the data folder from a backup.',
      );
    }
    return damaged.length === 0;
  }

  add(about: string, message: string): void {
    this.events.found({ about, message, repairable: false, repaired: false });
  }

  addRepairable(about: string, message: string): void {
    this.events.found({ about, message, repairable: true, repaired: this.repair });
  }

  /** LMDB trusts its pages, so they are looked at first. */
  #isReadable(name: string): boolean {
    const file = this.folder.path(name, 'data.mdb');
    this.events.at(file);
    const problem = lmdbProblem(file);
    if (problem !== undefined) this.add(file, `The file ${problem}. Restore it from a backup.`);
    return problem === undefined;
  }

  /** Indexes are made of documents: a damaged store of them is removed. */
  async #checkIndexes(): Promise<void> {
    const indexes = this.folder.path('indexes');
    for (const name of fs.existsSync(indexes) ? fs.readdirSync(indexes) : []) {
      const folder = path.join(indexes, name);
      const file = path.join(folder, 'data.mdb');
      this.events.at(file);
      const problem = lmdbProblem(file) ?? (await recordsProblem(folder));
      if (problem === undefined) continue;
      this.addRepairable(file, `The file ${problem}. Its indexes have to be built anew.`);
      if (this.repair) fs.rmSync(folder, { recursive: true, force: true });
    }
  }

  async #checkVolume(catalogue: Catalogue, slot: number, generation: number): Promise<void> {
    const name = path.join('documents', `${slot}.${generation}`);
    if (!volumeName.test(path.basename(name)) || !this.#isReadable(name)) return;
    const store = this.#openStore(name);
    try {
      if (store !== undefined) await this.#checkRecords(catalogue, slot, name, store);
    } finally {
      await store?.close();
    }
  }

  async #checkRecords(catalogue: Catalogue, slot: number, name: string, store: LmdbStore): Promise<void> {
    const damaged = damagedKeys(store);
    const sound = new SoundRecords(store, damaged);
    if (this.#reportOwn(name, damaged)) return;
    if (needsUpgrade(sound)) return this.add(name, earlierVersion);
    const blobs = new BlobCheck(name, sound, this, (blob) => fs.existsSync(this.#fileOf(blob)));
    const named = new Set<number>();
    const known = new Set(catalogue.erasures().map(({ instance }) => instance));
    for (const [database, record] of catalogue.databases()) {
      // What is being filled by a division counts only when it is complete.
      for (const { group } of record.division?.targets ?? []) known.add(group);
      for (const [at, { group, slot: home }] of groupsOf(record).entries()) {
        known.add(group);
        if (home !== slot) continue;
        named.add(group);
        this.events.at(`the database ${database} in ${name}`);
        const lost = new DamagedRecords(database, group, damaged, this);
        if (at === 0) this.#summary.databases++;
        const isUnreadable = lost.report();
        if (lost.hidesShards) {
          blobs.database(group, new Map(), false);
          continue;
        }
        const check = new DatabaseCheck(database, { ...record, instance: group }, sound, this, isUnreadable);
        check.run();
        this.#summary.documents += check.documents;
        blobs.database(group, check.blobShards, !check.hasUnreadable);
        const writes = [...check.writes, ...blobs.takeWrites()];
        const leftovers = lost.leftovers(writes, !check.hasUnreadable, sound);
        await this.#write(store, [...writes, ...leftovers]);
      }
    }
    for (const instance of [...instancesIn(sound)].filter((each) => !known.has(each))) {
      this.addRepairable(
        name,
        `Database number ${instance} has documents and no name: they take room for nothing.`,
      );
      if (this.repair) await catalogue.journal.record({ type: 'erase', instance, slot });
    }
    // Those that are being removed name files for as long as they are there.
    for (const instance of instancesIn(sound)) if (!named.has(instance)) blobs.database(instance, new Map());
    blobs.volume();
    for (const blob of blobs.files) this.#files.add(blob);
    this.#summary.attachments += blobs.attachments;
    const writes = blobs.takeWrites();
    await this.#write(store, [...writes, ...this.#reportRest(name, damaged, named, blobs, writes)]);
    if (damaged.includes(volumeBytesKey)) await this.#repairVolumeBytes(name, store, sound);
  }

  /** Made of the counters of shards. */
  async #repairVolumeBytes(name: string, store: LmdbStore, sound: SoundRecords): Promise<void> {
    this.addRepairable(name, 'The sum of what its shards have stored is damaged: its checksum is wrong.');
    let bytes = 0;
    for (const instance of instancesIn(sound)) bytes += bytesOfGroup(sound, instance);
    await this.#write(store, [{ key: volumeBytesKey, value: u48(Math.max(0, bytes)) }]);
  }

  /** Reports damaged records that belong to no database there is, and counts of files that no document names. */
  #reportRest(
    name: string,
    damaged: readonly Bytes[],
    named: ReadonlySet<number>,
    blobs: BlobCheck,
    writes: readonly Write[],
  ): Write[] {
    const written = new Set(writes.map(({ key }) => key));
    const removed: Write[] = [];
    for (const key of damaged) {
      const isFile = key.startsWith(filesPrefix);
      if (key === volumeBytesKey || written.has(key) || (!isFile && named.has(instanceOf(key)))) continue;
      const message = `Its record ${toHex(key)} is damaged: its checksum is wrong.`;
      if (!isFile || !blobs.isComplete) {
        this.add(name, message);
        continue;
      }
      this.addRepairable(name, message);
      removed.push({ key, value: undefined });
    }
    return removed;
  }

  /** Reports damaged records of the volume itself. Tells whether there were any but those that follow from databases. */
  #reportOwn(name: string, damaged: readonly Bytes[]): boolean {
    const own = damaged.filter(
      (key) => key < firstDatabaseKey && !key.startsWith(filesPrefix) && key !== volumeBytesKey,
    );
    for (const key of own)
      this.add(
        name,
        `Its record ${toHex(key)} is damaged: its checksum is wrong. Restore the data folder from a backup.`,
      );
    return own.length > 0;
  }

  async #checkFiles(): Promise<void> {
    for (const blob of this.#files) {
      const file = this.#fileOf(blob);
      this.events.at(file);
      try {
        if ((await digestFile(file, 'sha256')) === blob) continue;
        this.add(file, 'The bytes of the attachment have changed. Restore it from a backup or a replica.');
      } catch (error) {
        this.add(file, `The attachment can't be read: ${(error as Error).message}.`);
      }
    }
  }

  #fileOf(blob: string): string {
    return this.folder.path('attachments', blob.slice(0, 2), blob.slice(2));
  }

  async #write(store: LmdbStore, writes: readonly Write[]): Promise<void> {
    if (!this.repair) return;
    for (let at = 0; at < writes.length; at += writesAtOnce)
      await store.write(writes.slice(at, at + writesAtOnce)).flushed;
  }
}
