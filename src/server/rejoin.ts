import fs from 'node:fs';
import { StartupError } from '../base/startup-error.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Cluster } from '../cluster/cluster.js';
import type { StreamName } from '../cluster/stream-sources.js';
import { continuedHead } from '../log/stream-end.js';
import { CopyNeeded, StreamReplaced, type StreamInfo } from '../log/stream.js';
import type { DataFolder } from '../node/data-folder.js';
import { acceptCopy, incomingFolder, prepareCopy, secondFolder } from '../node/received-copy.js';
import { StoresAtRest } from '../node/stores-at-rest.js';

/** Whether a node can continue with a stream from what stores have of it. */
type Fit = 'fits' | 'truncated' | 'replaced' | 'lost';

/**
 * Replaces the stores of this node where it cannot continue from the streams with them: by those of another node, or, where
 * single streams were made anew, by the groups of those streams from the nodes whose histories they continue. What this node
 * has of other streams stays: it may have more of them than all others. To be called when nothing of the folder is in use; what is
 * there stays until the new stores are complete, and is offered to others until then.
 */
export async function copyFromPeers(
  cluster: Cluster,
  folder: DataFolder,
  openBlobs: () => Promise<BlobStore>,
): Promise<void> {
  const infos = await cluster.sources.infos();
  const blobs = await openBlobs();
  const own = StoresAtRest.open(folder.folder);
  cluster.rejoining.offer({ copy: (scratch) => own.copy(scratch), blobs });
  try {
    const isOwn = await new Rejoin(cluster, folder, infos, own).prepare();
    const named = await prepareCopy(folder, isOwn);
    await cluster.copies.bringBlobs(blobs, named);
  } finally {
    cluster.rejoining.offer(undefined);
    await own.close();
    await blobs.close();
    fs.rmSync(secondFolder(folder), { recursive: true, force: true });
  }
  await acceptCopy(folder);
}

class Rejoin {
  constructor(
    private readonly cluster: Cluster,
    private readonly folder: DataFolder,
    private readonly infos: ReadonlyMap<StreamName, StreamInfo>,
    private readonly own: StoresAtRest,
  ) {}

  /** Puts stores together in the folder for those that come; tells whether their catalogue is the one of this node. */
  async prepare(): Promise<boolean> {
    const target = incomingFolder(this.folder);
    fs.rmSync(target, { recursive: true, force: true });
    const isReplaced = this.#fit('catalogue', this.own) === 'replaced';
    const isTruncated = this.#everywhere(this.own).some(
      (stream) => this.#fit(stream, this.own) === 'truncated',
    );
    const isOwn = !isReplaced && !isTruncated;
    const source = isReplaced ? this.infos.get('catalogue')?.recovered?.node : undefined;
    if (isOwn) await this.own.copyTo(target);
    else await this.cluster.copies.bringStores(target, source);
    const stores = StoresAtRest.open(target);
    try {
      for (const stream of this.infos.keys())
        if (stream !== 'catalogue') await this.#complete(stores, stream, isOwn);
      this.#check(stores);
    } finally {
      await stores.close();
    }
    return isOwn;
  }

  /** Another node may have given what is no better, since it is copying itself. */
  #check(stores: StoresAtRest): void {
    for (const stream of this.#everywhere(stores))
      if (['truncated', 'replaced'].includes(this.#fit(stream, stores)))
        throw new StartupError(
          `No other node has what this one needs of the stream ${stream}. It is tried again.`,
        );
  }

  /** The streams that all nodes host. The groups of others are copied when the stores are open. */
  #everywhere(stores: StoresAtRest): StreamName[] {
    const placed = stores.catalogue.placements();
    return [...this.infos.keys()].filter((stream) => stream === 'catalogue' || !placed.has(stream));
  }

  async #complete(stores: StoresAtRest, stream: number, isOwn: boolean): Promise<void> {
    const fit = this.#fit(stream, stores);
    const here = this.#fit(stream, this.own);
    const isMore = (this.own.place(stream)?.last ?? 0) > (stores.place(stream)?.last ?? 0);
    const isEverywhere = this.#everywhere(stores).includes(stream);
    // A stream that has lost its end fits to a node that has not had it. Another node may not host one that this one hosts.
    const isKept = here === 'lost' ? isMore : here === 'fits' && (fit !== 'fits' || !isEverywhere);
    if (!isOwn && isKept) await stores.takeStream(stream, this.own);
    else if (fit === 'replaced' && isEverywhere) await this.#takeFromSource(stores, stream);
  }

  async #takeFromSource(stores: StoresAtRest, stream: number): Promise<void> {
    const second = secondFolder(this.folder);
    await this.cluster.copies.bringStores(second, this.infos.get(stream)?.recovered?.node);
    const source = StoresAtRest.open(second);
    try {
      if (this.#fit(stream, source) !== 'fits')
        throw new StartupError(
          `No other node has what the stream ${stream} was made anew from. It is tried again.`,
        );
      await stores.takeStream(stream, source);
    } finally {
      await source.close();
    }
  }

  #fit(stream: StreamName, stores: StoresAtRest): Fit {
    const info = this.infos.get(stream);
    const place = stores.place(stream);
    if (info === undefined) return 'lost';
    if (place === undefined)
      return info.first > 1 ? (info.recovered === undefined ? 'truncated' : 'replaced') : 'fits';
    try {
      continuedHead(String(stream), place, info);
      return 'fits';
    } catch (error) {
      if (error instanceof StreamReplaced) return 'replaced';
      return error instanceof CopyNeeded ? 'truncated' : 'lost';
    }
  }
}
