import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { decodeBatch } from '../../src/log/batch-codec.js';
import { compareRevs, type Rev } from '../../src/revisions/rev.js';
import { Random } from '../model/random.js';
import { SimulatedNode } from './simulated-node.js';
import { SimulatedClock, SimulatedRuntime } from './simulated-runtime.js';
import { SimulatedStream } from './simulated-stream.js';

const clientsOfEach = 2;
const docsCount = 5;
/** Events that the end may take before it counts as stuck. */
const stepsMax = 100_000;

/** What a client was told of a command. */
interface Told {
  position: number;
  parent: Rev | undefined;
  /** Undefined where it was refused as a conflict. */
  rev: Rev | undefined;
  mark: string;
}

interface Doc {
  id: Bytes;
  /** The last revision that any client was told of. */
  rev: Rev | undefined;
  told: Told[];
  /** No command had an unknown outcome, so all that happened to it is known. */
  isKnown: boolean;
}

export interface ClusterFigures {
  /** Equal for equal seeds. */
  trace: string;
  told: number;
  unknown: number;
  crashes: number;
  messages: number;
}

/**
 * A cluster of three nodes on a stream: nodes crash, pause and have disks that fail, and the network between them and the stream
 * does what it can. In the end all must have the same bytes, and clients must have been told the truth.
 */
export class ClusterSimulation {
  readonly #random: Random;
  readonly #clock: SimulatedClock;
  readonly #servers: SimulatedRuntime;
  readonly #stream: SimulatedStream;
  readonly #nodes: SimulatedNode[];
  readonly #hash = createHash('sha256');
  readonly #figures: ClusterFigures = { trace: '', told: 0, unknown: 0, crashes: 0, messages: 0 };
  readonly #retired: Doc[] = [];
  #docs: Doc[] = [];
  #made = 0;
  #isEnding = false;
  #failure: { error: unknown } | undefined;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#clock = new SimulatedClock(this.#random);
    this.#servers = new SimulatedRuntime(this.#clock, this.#random);
    this.#stream = new SimulatedStream(this.#servers, this.#random, this.#trace);
    this.#nodes = ['a', 'b', 'c'].map(
      (name) => new SimulatedNode(name, this.#stream, this.#clock, this.#random),
    );
    while (this.#docs.length < docsCount) this.#docs.push(this.#newDoc());
  }

  async run(): Promise<ClusterFigures> {
    for (const node of this.#nodes) this.#startClients(node);
    for (let left = 400 + this.#random.below(1_200); left > 0; left--) {
      this.#disturb();
      await this.#step();
    }
    await this.#end();
    this.#figures.messages = this.#stream.last;
    return { ...this.#figures, trace: this.#hash.digest('hex').slice(0, 16) };
  }

  readonly #trace = (event: string): void => {
    this.#hash.update(`${event}\n`);
  };

  #disturb(): void {
    const node = this.#random.pick(this.#nodes);
    if (this.#random.oneIn(150)) this.#crash(node);
    if (this.#random.oneIn(120)) node.isPaused = true;
    if (this.#random.oneIn(40)) for (const each of this.#nodes) each.isPaused = false;
    if (this.#random.oneIn(node.disk.state === 'good' ? 50 : 20))
      node.disk.state = this.#random.pick(['good', 'full', 'failing']);
    if (this.#random.oneIn(60)) this.#stream.trim(Math.min(...this.#nodes.map(({ storedSeq }) => storedSeq)));
    if (this.#random.oneIn(100)) this.#stream.disconnect();
  }

  #crash(node: SimulatedNode): void {
    this.#trace(`${node.name} crashes`);
    this.#figures.crashes++;
    node.crash();
    this.#startClients(node);
  }

  #startClients(node: SimulatedNode): void {
    for (let count = 0; count < clientsOfEach; count++)
      this.#client(node, node.lives).catch((error: unknown) => (this.#failure ??= { error }));
  }

  /** Edits documents at a node, until it crashes. */
  async #client(node: SimulatedNode, life: number): Promise<void> {
    const { runtime } = node;
    while (!this.#isEnding && node.lives === life) {
      await runtime.sleep(this.#random.below(15));
      const doc = this.#random.pick(this.#docs);
      const mark = `mark-${++this.#made}.`;
      const parent = doc.rev;
      let isOver = false;
      const edit = {
        id: doc.id,
        parent,
        path: undefined,
        deleted: false,
        body: asBytes(`{"mark":"${mark}"}`),
      };
      // A client of a node that has crashed is told nothing.
      const crashed = this.#servers.sleep(20_000).then(() => {
        if (!isOver) this.#retire(doc);
      });
      void crashed;
      try {
        const { position, result } = await node.edit(edit);
        isOver = true;
        const rev = typeof result === 'object' ? result : undefined;
        doc.told.push({ position, parent, rev, mark });
        if (rev !== undefined) doc.rev = rev;
        this.#figures.told++;
        this.#trace(`${node.name} was told ${position}`);
      } catch (error) {
        isOver = true;
        this.#trace(`${node.name} was told: ${(error as Error).message}`);
        if (/was not saved/.test((error as Error).message)) continue;
        this.#retire(doc);
      }
    }
  }

  /** A document to which something unknown may have happened is left alone. */
  #retire(doc: Doc): void {
    this.#figures.unknown++;
    doc.isKnown = false;
    const at = this.#docs.indexOf(doc);
    if (at < 0) return;
    this.#retired.push(doc);
    this.#docs[at] = this.#newDoc();
  }

  #newDoc(): Doc {
    return { id: asBytes(`doc-${++this.#made}`), rev: undefined, told: [], isKnown: true };
  }

  async #end(): Promise<void> {
    this.#stream.isTroubled = false;
    this.#isEnding = true;
    for (const node of this.#nodes) {
      node.isPaused = false;
      node.disk.state = 'good';
    }
    await this.#drive(this.#servers.sleep(30_000));
    await this.#drive(Promise.all(this.#nodes.map(({ replica }) => replica.fresh())));
    // The last barrier may have overtaken others.
    await this.#drive(Promise.all(this.#nodes.map(({ replica }) => replica.fresh())));
    for (const { replica } of this.#nodes) assert.equal(replica.lost, undefined);
    const [first, ...others] = this.#nodes.map((node) => node.contents());
    for (const other of others) assert.deepEqual(other, first, 'all nodes have the same bytes');
    const text = first!.map(({ value }) => value).join('\n');
    for (const doc of [...this.#docs, ...this.#retired]) checkDoc(doc, text);
    for (const { position } of this.#nodes)
      assert.equal(position, commandsIn(this.#stream.messages), 'each command is applied once');
    const positions = [...this.#docs, ...this.#retired].flatMap(({ told }) =>
      told.map(({ position }) => position),
    );
    assert.equal(new Set(positions).size, positions.length, 'no position is given twice');
    if (this.#random.oneIn(4)) await this.#loseEnd();
  }

  /** A stream that was restored from a backup takes no writes of nodes that have applied more. */
  async #loseEnd(): Promise<void> {
    const kept = this.#stream.last;
    const edit = {
      id: asBytes('last'),
      parent: undefined,
      path: undefined,
      deleted: false,
      body: asBytes('{}'),
    };
    await this.#drive(this.#random.pick(this.#nodes).edit(edit));
    await this.#drive(Promise.all(this.#nodes.map(({ replica }) => replica.fresh())));
    const before = this.#nodes.map((node) => node.contents());
    this.#stream.loseEnd(this.#stream.last - kept);
    await this.#drive(this.#servers.sleep(20_000));
    for (const [at, node] of this.#nodes.entries()) {
      assert.match(node.replica.lost?.message ?? 'nothing', /its last messages are lost/);
      assert.deepEqual(node.contents(), before[at]);
    }
  }

  async #drive<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (let left = stepsMax; !isDone; left--) {
      if (left === 0 || !(await this.#step())) assert.fail('the work does not end');
    }
    return await done;
  }

  /** Lets one thing happen on a machine that the seed picks, of those on which something is due soonest. */
  async #step(): Promise<boolean> {
    const running = this.#nodes.filter(({ isPaused }) => !isPaused).map(({ runtime }) => runtime);
    const machines = [this.#servers, ...running];
    const start = this.#random.below(machines.length);
    for (const withinMs of [1, 10, 100, 1_000, 3_000, 10_000, Infinity])
      for (let at = 0; at < machines.length; at++)
        if (await machines[(start + at) % machines.length]!.step(withinMs)) {
          if (this.#failure !== undefined) throw this.#failure.error;
          return true;
        }
    return false;
  }
}

/** Commands of messages without repetitions, and without those that an earlier process of a node still had under way. */
function commandsIn(messages: readonly Buffer[]): number {
  const seen = new Set<string>();
  const incarnations = new Map<string, number>();
  let count = 0;
  for (const message of messages) {
    const { origin, commands } = decodeBatch(message);
    const isLate = origin.incarnation < (incarnations.get(origin.name) ?? 0);
    if (isLate || seen.has(message.toString('latin1'))) continue;
    seen.add(message.toString('latin1'));
    incarnations.set(origin.name, origin.incarnation);
    count += commands.length;
  }
  return count;
}

/** In the order of the log, each write that succeeded followed the one before it, and each that was refused could not. */
function checkDoc({ id, told, isKnown }: Doc, contents: string): void {
  const inOrder = told.toSorted((one, other) => one.position - other.position);
  const succeeded = inOrder.filter(({ rev }) => rev !== undefined);
  let last: Told | undefined;
  for (const each of inOrder) {
    const follows = isSame(each.parent, last?.rev);
    if (each.rev !== undefined) {
      assert.ok(follows || !isKnown, `${id}: ${each.mark} replaced another revision`);
      last = each;
    } else assert.ok(!follows || !isKnown, `${id}: ${each.mark} was refused without reason`);
  }
  assert.equal(new Set(succeeded.map(({ parent }) => JSON.stringify(parent ?? null))).size, succeeded.length);
  if (isKnown && last !== undefined) assert.ok(contents.includes(last.mark), `${id}: ${last.mark} is lost`);
}

const isSame = (one: Rev | undefined, other: Rev | undefined): boolean =>
  one === undefined || other === undefined ? one === other : compareRevs(one, other) === 0;
