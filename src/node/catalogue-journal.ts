import { asBytes, toBytes, u32, u8, type Bytes } from '../base/bytes.js';
import type { Journal } from '../log/journal.js';
import type { GroupCommit } from '../storage/group-commit.js';
import type { Overlay } from '../storage/overlay.js';
import type { Store } from '../storage/store.js';
import type { ReshardingState, ReshardJob } from './reshard-job.js';
import { decodeJson, encodeJson, nameKey, readMeta, type StoredDatabase } from './catalogue-commands.js';

/** The queue of the catalogue's store. */
export interface CatalogueQueue {
  readonly store: Store;
  readonly overlay: Overlay;
  readonly commits: GroupCommit;
  /** Whether commands are encoded and decoded before they are applied, as they are on the way between machines. */
  readonly encoded: boolean;
}

/** What this node notes in its catalogue, beside the list of databases that all nodes share. */
export type NodeEntry =
  /** Gives the catalogue its id. */
  | { type: 'set_id'; id: string }
  /** Makes a folder the one of a slot: the moment in which a volume is begun or replaced. */
  | { type: 'set_generation'; slot: number; generation: number }
  /** Has a group, which is empty still, in another volume than the newest. */
  | { type: 'set_slot'; group: number; slot: number }
  /** A volume has keys of a database that has no name: they are to be removed. */
  | { type: 'erase'; instance: number; slot: number }
  /** All keys of a deleted database are removed. */
  | { type: 'erased'; instance: number }
  /** Notes how far a resharding job is. */
  | { type: 'set_job'; job: ReshardJob }
  | { type: 'remove_job'; id: string }
  /** Lets resharding jobs run, or none. */
  | { type: 'set_resharding'; state: ReshardingState };

export interface NodeResults {
  set_id: undefined;
  set_generation: undefined;
  set_slot: undefined;
  erase: undefined;
  erased: undefined;
  set_job: undefined;
  remove_job: undefined;
  set_resharding: undefined;
}

/** A group that belongs to no database any more, and whose keys are still to be removed. */
export interface Erasure {
  /** The number of the group. */
  instance: number;
  slot: number;
}

/** What the node knows of itself. */
interface NodeState {
  /** The generation of each slot's folder. */
  generations: number[];
}

export const idKey = asBytes('i');
export const nodeKey = asBytes('n');
export const erasurePrefix = asBytes('x');
const slotPrefix = 's';
export const jobPrefix = asBytes('j');
export const reshardingKey = asBytes('r');

const numbered = (instance: number): Bytes =>
  asBytes(u8(Math.floor(instance / 0x1_0000_0000)) + u32(instance));
export const erasureKey = (instance: number): Bytes => asBytes(erasurePrefix + numbered(instance));
export const slotKey = (instance: number): Bytes => asBytes(slotPrefix + numbered(instance));

/** Where a group is. */
export interface GroupHome {
  slot: number;
  /** In a cluster: the stream that its commands come from, and the name of its database. */
  stream?: number;
  name?: string;
}

/** Undefined for a group that does not exist any more. */
export const readHome = (source: Pick<Store, 'get'>, group: number): GroupHome | undefined =>
  decodeJson<GroupHome>(source.get(slotKey(group)));

/** Catalogues of format 1 have it among what is shared. */
export const readGenerations = (source: Pick<Store, 'get'>): number[] =>
  decodeJson<NodeState>(source.get(nodeKey))?.generations ?? readMeta(source).generations ?? [];

export const readErasure = (source: Pick<Store, 'get'>, instance: number): Erasure | undefined =>
  decodeJson<Erasure>(source.get(erasureKey(instance)));

/** The volume that holds a group. Catalogues of format 1 have it in the record of the database. */
export const readSlot = (source: Pick<Store, 'get'>, group: number, { slot }: StoredDatabase): number =>
  decodeJson<{ slot: number }>(source.get(slotKey(group)))?.slot ?? slot ?? 0;

/** The part of the node's journal that concerns the catalogue, in the queue of its store. */
export class CatalogueJournal implements Journal<NodeEntry, NodeResults> {
  constructor(private readonly queue: CatalogueQueue) {}

  record<D extends NodeEntry>(given: D): Promise<NodeResults[D['type']]> {
    const { commits, overlay, encoded } = this.queue;
    const entry: NodeEntry = encoded ? structuredClone(given) : given;
    return commits.submit(() => applyEntry(entry, overlay));
  }
}

function applyEntry(entry: NodeEntry, overlay: Overlay): undefined {
  switch (entry.type) {
    case 'set_id':
      overlay.put(idKey, toBytes(entry.id));
      break;
    case 'set_generation': {
      const generations = [...readGenerations(overlay)];
      generations[entry.slot] = entry.generation;
      overlay.put(nodeKey, encodeJson({ generations } satisfies NodeState));
      break;
    }
    case 'set_slot':
      overlay.put(slotKey(entry.group), encodeJson({ slot: entry.slot }));
      break;
    case 'erase': {
      const { instance, slot } = entry;
      overlay.put(erasureKey(instance), encodeJson({ instance, slot } satisfies Erasure));
      break;
    }
    case 'erased':
      overlay.remove(erasureKey(entry.instance));
      break;
    case 'set_job':
      overlay.put(asBytes(jobPrefix + toBytes(entry.job.id)), encodeJson(entry.job));
      break;
    case 'remove_job':
      overlay.remove(asBytes(jobPrefix + toBytes(entry.id)));
      break;
    case 'set_resharding':
      overlay.put(reshardingKey, encodeJson(entry.state));
  }
}

/** What a command of the catalogue means for this node: to be found before, and noted after it is applied. */
export class Placement {
  readonly #record: StoredDatabase | undefined;

  constructor(
    private readonly name: string,
    private readonly overlay: Overlay,
  ) {
    this.#record = decodeJson<StoredDatabase>(overlay.get(nameKey(name)));
  }

  /** New groups go into the newest volume. */
  created(groups: readonly number[], stream: number | undefined): void {
    const slot = Math.max(0, readGenerations(this.overlay).length - 1);
    const home: GroupHome = { slot, ...(stream !== undefined && { stream, name: this.name }) };
    for (const group of groups) this.overlay.put(slotKey(group), encodeJson(home));
  }

  /** The keys of a deleted one are to be erased. */
  deleted(groups: readonly number[]): void {
    for (const instance of groups) {
      const erasure: Erasure = { instance, slot: readSlot(this.overlay, instance, this.#record!) };
      this.overlay.remove(slotKey(instance));
      this.overlay.put(erasureKey(instance), encodeJson(erasure));
    }
  }
}
