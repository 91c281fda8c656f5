import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { checkDatabase } from '../model/check-database.js';
import { Random } from '../model/random.js';
import { readAttachments } from './attachments.js';
import { Facts } from './facts.js';
import { FeedClient } from './feed-client.js';
import { copyName, Life } from './life.js';
import { queryAll } from './queries.js';
import { Rules } from './rules.js';
import { SimulatedClock, SimulatedRuntime } from './simulated-runtime.js';
import { SimulatedDisk } from './simulated-disk.js';
import { Writer } from './writer.js';

const writersCount = 4;
/** Events that the last phase may take before it counts as stuck. */
const stepsMax = 200_000;
/** Long enough for a feed to send all that there is. */
const quietMs = 2_000;

export interface Figures {
  /** A digest of all that happened, in its order: equal for equal seeds. */
  trace: string;
  events: number;
  steps: number;
  crashes: number;
  forgotten: number;
}

/** A whole history of one machine: a server that crashes again and again under its clients, and what they find in the end. */
export class Simulation {
  readonly #random: Random;
  readonly #clock: SimulatedClock;
  readonly #disk: SimulatedDisk;
  readonly #facts = new Facts(() => this.#disk.isFlushed);
  readonly #hash = createHash('sha256');
  readonly #figures: Figures = { trace: '', events: 0, steps: 0, crashes: 0, forgotten: 0 };
  readonly #rules: Rules;
  readonly #writers: Writer[];
  readonly #feed: FeedClient;
  #failure: { error: unknown } | undefined;

  constructor(
    seed: number,
    private readonly onEvent?: (event: string) => void,
  ) {
    this.#random = new Random(seed);
    this.#clock = new SimulatedClock(this.#random);
    this.#disk = new SimulatedDisk(this.#random);
    this.#rules = new Rules(this.#facts, this.#random, this.#trace);
    this.#writers = Array.from(
      { length: writersCount },
      (_, i) => new Writer(`w${i}`, this.#facts, this.#rules, this.#random, this.#trace),
    );
    this.#feed = new FeedClient(this.#facts, this.#trace, () => this.#disk.isFlushed);
  }

  async run(): Promise<Figures> {
    const crashes = 2 + this.#random.below(4);
    for (let life = 0; life <= crashes; life++) {
      const runtime = new SimulatedRuntime(this.#clock, this.#random);
      const current = await this.#drive(runtime, Life.begin(runtime, this.#disk, this.#random));
      await this.#drive(runtime, current.ready());
      await this.#drive(runtime, this.#rules.begin(current));
      for (const id of this.#facts.ids) this.#facts.look(current.database, id);
      const work = [
        ...this.#writers.map((writer) => writer.work(current)),
        this.#rules.work(current),
        this.#replicate(current),
      ];
      for (const each of [...work, this.#feed.follow(current)])
        each.catch((error: unknown) => (this.#failure ??= { error }));
      // Now and then a life is long enough for a group to be divided in it.
      const steps = 40 + this.#random.below(this.#random.oneIn(8) ? 1_200 : 240);
      for (let left = steps; left > 0; left--) {
        this.#disturb();
        await this.#step(runtime);
      }
      // Most crashes come while something is being written.
      for (let left = this.#random.below(100); left > 0 && this.#disk.isFlushed; left--)
        await this.#step(runtime);
      this.#disk.state = 'good';
      if (life < crashes) this.#crash(runtime);
      else await this.#end(current, Promise.all(work));
    }
    return { ...this.#figures, trace: this.#hash.digest('hex').slice(0, 16) };
  }

  readonly #trace = (event: string): void => {
    this.#figures.events++;
    this.#hash.update(`${event}\n`);
    this.onEvent?.(event);
  };

  async #replicate(life: Life): Promise<void> {
    while (!life.isEnding) {
      await life.runtime.sleep(20 + this.#random.below(100));
      this.#trace(`replicated ${await life.replicate()}`);
    }
  }

  #disturb(): void {
    if (this.#random.oneIn(150)) this.#clock.jump();
    if (this.#random.oneIn(this.#disk.state === 'good' ? 120 : 25))
      this.#disk.state = this.#random.pick(['good', 'full', 'failing']);
  }

  #crash(runtime: SimulatedRuntime): void {
    runtime.crash();
    const forgotten = this.#disk.crash();
    this.#figures.crashes++;
    this.#figures.forgotten += forgotten;
    this.#facts.crashed();
    this.#rules.crashed();
    this.#feed.crashed(forgotten);
    this.#trace(`crash ${forgotten}`);
  }

  /** Lets clients finish, and compares what is there with what they were told. */
  async #end(life: Life, work: Promise<unknown>): Promise<void> {
    const { runtime, registry, database } = life;
    life.isEnding = true;
    await this.#drive(runtime, work);
    await this.#drive(runtime, runtime.sleep(quietMs));
    await this.#drive(runtime, life.splitsEnded());
    for (const id of this.#facts.ids) {
      const leaves = this.#facts.look(database, id);
      const revs = leaves.map(({ rev }) => rev);
      for (const leaf of leaves)
        this.#trace(
          `${id} ${leaf.rev} attachments ${await this.#drive(runtime, readAttachments(life, id, leaf))}`,
        );
      if (revs.length > 0)
        assert.deepEqual(
          this.#feed.latest.get(id)?.toSorted(),
          revs.toSorted(),
          `${id}: the last row of the feed`,
        );
    }
    await this.#drive(runtime, queryAll(life, this.#facts, this.#random));
    assert.equal(await this.#drive(runtime, life.replicate()), true, 'the last replication');
    const copy = registry.database(copyName);
    for (const id of this.#facts.ids)
      assert.deepEqual(
        this.#facts.look(copy, id),
        this.#facts.look(database, id),
        `${id}: source and target`,
      );
    const storeOf = (slot: number) => registry.volumes()[slot]!.store;
    for (const { record } of [database, copy]) checkDatabase(storeOf, record);
  }

  async #drive<T>(runtime: SimulatedRuntime, work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (let left = stepsMax; !isDone; left--) {
      if (left === 0 || !(await this.#step(runtime))) assert.fail('the work does not end');
    }
    return await done;
  }

  async #step(runtime: SimulatedRuntime, withinMs?: number): Promise<boolean> {
    this.#figures.steps++;
    const hasRun = await runtime.step(withinMs);
    if (this.#failure !== undefined) throw this.#failure.error;
    return hasRun;
  }
}
