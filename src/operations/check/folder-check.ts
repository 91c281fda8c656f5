import fs from 'node:fs';
import path from 'node:path';
import { Catalogue, groupsOf } from '../../node/catalogue.js';
import { DataFolder } from '../../node/data-folder.js';
import { instancesIn } from '../../node/instances.js';
import { needsUpgrade } from '../../shard/upgrade-volume.js';
import { LmdbStore } from '../../storage/lmdb-store.js';
import { lmdbProblem } from '../../storage/lmdb-pages.js';
import type { Write } from '../../storage/store.js';
import { hashFile } from '../copy-files.js';
import { BlobCheck } from './blob-check.js';
import { DatabaseCheck } from './database-check.js';
import type { CheckFinding, CheckSummary, Findings } from './finding.js';

export interface CheckEvents {
  /** What is looked at from now on: it is to blame if the process ends. */
  at(what: string): void;
  found(finding: CheckFinding): void;
}

const writesAtOnce = 1_000;
const volumeName = /^(\d+)\.(\d+)$/;

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

class FolderCheck implements Findings {
  readonly #summary: CheckSummary = { databases: 0, documents: 0, attachments: 0 };
  readonly #files = new Set<string>();

  constructor(
    private readonly folder: DataFolder,
    private readonly repair: boolean,
    private readonly events: CheckEvents,
  ) {}

  async run(): Promise<CheckSummary> {
    this.#checkIndexes();
    if (!this.#isReadable('catalogue')) return this.#summary;
    const catalogue = new Catalogue(new LmdbStore(this.folder.path('catalogue')), () => {});
    try {
      this.events.at(this.folder.path('catalogue'));
      for (const [slot, generation] of catalogue.generations().entries())
        await this.#checkVolume(catalogue, slot, generation);
    } finally {
      await catalogue.close();
    }
    await this.#checkFiles();
    return this.#summary;
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
  #checkIndexes(): void {
    const indexes = this.folder.path('indexes');
    for (const name of fs.existsSync(indexes) ? fs.readdirSync(indexes) : []) {
      const file = path.join(indexes, name, 'data.mdb');
      this.events.at(file);
      const problem = lmdbProblem(file);
      if (problem === undefined) continue;
      this.addRepairable(file, `The file ${problem}. Its indexes have to be built anew.`);
      if (this.repair) fs.rmSync(path.join(indexes, name), { recursive: true, force: true });
    }
  }

  async #checkVolume(catalogue: Catalogue, slot: number, generation: number): Promise<void> {
    const name = path.join('documents', `${slot}.${generation}`);
    if (!volumeName.test(path.basename(name)) || !this.#isReadable(name)) return;
    const store = new LmdbStore(this.folder.path(name));
    try {
      if (needsUpgrade(store))
        return this.add(name, 'It is of an earlier version. Start the server once, which upgrades it.');
      const blobs = new BlobCheck(name, store, this, (blob) => fs.existsSync(this.#fileOf(blob)));
      const named = new Set<number>();
      const known = new Set(catalogue.erasures().map(({ instance }) => instance));
      for (const [database, record] of catalogue.databases()) {
        for (const { group, slot: home } of groupsOf(record)) {
          known.add(group);
          if (home !== slot) continue;
          named.add(group);
          this.events.at(`the database ${database} in ${name}`);
          const check = new DatabaseCheck(database, { ...record, instance: group }, store, this);
          check.run();
          if (group === record.instance) this.#summary.databases++;
          this.#summary.documents += check.documents;
          blobs.database(group, check.blobShards);
          await this.#write(store, check.writes);
        }
      }
      for (const instance of [...instancesIn(store)].filter((each) => !known.has(each))) {
        this.addRepairable(
          name,
          `Database number ${instance} has documents and no name: they take room for nothing.`,
        );
        if (this.repair) await catalogue.journal.record({ type: 'erase', instance, slot });
      }
      // Those that are being removed name files for as long as they are there.
      for (const instance of instancesIn(store))
        if (!named.has(instance)) blobs.database(instance, new Map());
      blobs.volume();
      for (const blob of blobs.files) this.#files.add(blob);
      this.#summary.attachments += blobs.attachments;
      await this.#write(store, blobs.writes);
    } finally {
      await store.close();
    }
  }

  async #checkFiles(): Promise<void> {
    for (const blob of this.#files) {
      const file = this.#fileOf(blob);
      this.events.at(file);
      try {
        if ((await hashFile(file)) === blob) continue;
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
