import assert from 'node:assert/strict';
import { DatabaseKeys } from '../../src/shard/keys.js';
import type { EditCommand, EditResult } from '../../src/shard/commands.js';
import type { Entry } from '../../src/storage/store.js';
import { openVolume, type ReplicatedVolume } from '../cluster/replicated-scenes.js';
import type { Random } from '../model/random.js';
import { SimulatedDisk } from './simulated-disk.js';
import { SimulatedRuntime, type SimulatedClock } from './simulated-runtime.js';
import type { SimulatedStream } from './simulated-stream.js';

const instance = 3;
const timeoutMs = 3_000;
const keys = new DatabaseKeys(instance);

/** A node of a simulated cluster, which crashes and starts again. */
export class SimulatedNode {
  readonly disk: SimulatedDisk;
  runtime: SimulatedRuntime;
  #opened: ReplicatedVolume;
  /** How often it was started. */
  lives = 1;
  isPaused = false;

  constructor(
    readonly name: string,
    private readonly stream: SimulatedStream,
    private readonly clock: SimulatedClock,
    private readonly random: Random,
  ) {
    this.disk = new SimulatedDisk(random);
    this.runtime = new SimulatedRuntime(clock, random);
    this.#opened = this.#open();
  }

  get replica(): ReplicatedVolume['replica'] {
    return this.#opened.replica;
  }

  /** The last message that no crash can make it forget. */
  get storedSeq(): number {
    return this.disk.isFlushed ? (this.replica.storedSeq ?? 0) : 0;
  }

  /** Commands that were applied. */
  get position(): number {
    return this.#opened.volume.log(instance).position;
  }

  contents(): Entry[] {
    return [...this.#opened.volume.store.entries(keys.range)];
  }

  async edit(edit: EditCommand['edits'][number]): Promise<{ position: number; result: EditResult }> {
    const command: EditCommand = { type: 'edit', instance, shard: 0, revs_limit: 100, edits: [edit] };
    const { position, result } = await this.#opened.volume.log(instance).append(command);
    assert.equal(result.length, 1);
    return { position, result: result[0]! };
  }

  crash(): void {
    this.runtime.crash();
    this.disk.state = 'good';
    this.disk.crash();
    this.runtime = new SimulatedRuntime(this.clock, this.random);
    this.lives++;
    this.#opened = this.#open();
  }

  #open(): ReplicatedVolume {
    const store = this.disk.open('documents', this.runtime);
    return openVolume(store, this.stream.seenBy(this.runtime), this.name, timeoutMs, this.runtime);
  }
}
