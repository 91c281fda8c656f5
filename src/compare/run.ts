import type { Difference } from './answer-differences.js';
import { Coverage } from './coverage.js';
import { Findings, kindOf, type Finding } from './findings.js';
import { gridRequests, type GridRequest } from './grid.js';
import { Lane } from './lane.js';
import { Peer } from './peer.js';
import { randomSequence } from './random/sequences.js';
import { RandomSource } from './random/source.js';
import type { CompareRequest } from './request.js';
import { prepareUsers, removeUsers, scenes } from './scene.js';
import { shrink } from './shrink.js';

export interface CompareOptions {
  /** Addresses with the credentials of a server admin. */
  reference: string;
  subject: string;
  minutes: number;
  seed: number;
  /** Part of `METHOD /route` or of a path: nothing else is tried. */
  only: string;
  /** Whether the texts of errors are compared too. */
  reasons: boolean;
  /** The grid, random sequences, or both. */
  mode: CompareMode;
  /** Whether findings are reduced to the requests that they need. */
  shrink: boolean;
  report(finding: Finding): void;
}

export const compareModes = ['grid', 'random', 'both'] as const;
export type CompareMode = (typeof compareModes)[number];

export interface CompareSummary {
  requests: number;
  findings: number;
  /** Differences that were gone when the same requests were sent again. */
  unrepeated: number;
  sequences: number;
  coverage: string;
}

const lanesCount = 3;

/** Sends the same requests to two servers for some minutes, and reports where their answers differ. */
export async function compareServers(options: CompareOptions): Promise<CompareSummary> {
  const comparison = new Comparison(options);
  const admins = [new Peer(options.reference), new Peer(options.subject)];
  await Promise.all(admins.map(prepareUsers));
  try {
    await comparison.run();
  } finally {
    await Promise.all(admins.map(removeUsers));
    for (const peer of admins) peer.close();
  }
  return comparison.summary();
}

class Comparison {
  readonly #options: CompareOptions;
  readonly #random: RandomSource;
  readonly #findings = new Findings();
  readonly #coverage: Coverage;
  readonly #reads: GridRequest[];
  readonly #writes: GridRequest[];
  readonly #lanes: Lane[] = [];
  readonly #endsAt: number;
  #sequences = 0;
  #unrepeated = 0;

  constructor(options: CompareOptions) {
    this.#options = options;
    this.#random = new RandomSource(options.seed);
    this.#coverage = new Coverage(options.only);
    const grid = this.#random.shuffle(gridRequests(options.only));
    this.#reads = grid.filter(({ writes }) => !writes);
    this.#writes = grid.filter(({ writes }) => writes);
    this.#endsAt = Date.now() + options.minutes * 60_000;
  }

  summary(): CompareSummary {
    return {
      requests: this.#lanes.reduce((sum, { sent }) => sum + sent, 0),
      findings: this.#findings.kinds,
      unrepeated: this.#unrepeated,
      sequences: this.#sequences,
      coverage: String(this.#coverage),
    };
  }

  /** One lane walks over the reading requests, one over the writing ones, and one makes sequences; then all do that. */
  async run(): Promise<void> {
    const { mode, only } = this.#options;
    const withGrid = mode !== 'random';
    const withSequences = mode !== 'grid' && only === '';
    const work = [
      async (lane: Lane) => await this.#walk(lane, this.#reads),
      async (lane: Lane) => await this.#walk(lane, this.#writes),
      async () => undefined,
    ];
    await Promise.all(
      Array.from({ length: lanesCount }, async (_, at) => {
        const peers = [new Peer(this.#options.reference), new Peer(this.#options.subject)] as const;
        const name = `compare_${Date.now().toString(36)}_${at}`;
        const lane = new Lane(...peers, name, this.#options.reasons);
        this.#lanes.push(lane);
        if (withGrid) await work[at]!(lane);
        if (withSequences) while (this.#hasTime()) await this.#playSequence(lane);
        await lane.leave();
        for (const peer of peers) peer.close();
      }),
    );
  }

  #hasTime(): boolean {
    return Date.now() < this.#endsAt;
  }

  /** A database is used until a request has changed it. */
  async #walk(lane: Lane, grid: readonly GridRequest[]): Promise<void> {
    let current = '';
    for (const { request, scene } of byScene(grid)) {
      if (!this.#hasTime()) return;
      if (current !== scene) await lane.enter(scene);
      current = scene;
      const { differences, changed } = await this.#compare(lane, request);
      if (changed && request.method !== 'GET' && request.method !== 'HEAD' && grid === this.#writes)
        current = '';
      if (differences.length > 0 && (await this.#found(lane, [...scenes[scene], request], differences)))
        current = '';
    }
  }

  async #playSequence(lane: Lane): Promise<void> {
    const scene = this.#random.chance(0.8) ? 'plain' : 'empty';
    const requests = randomSequence(this.#random, scene);
    await lane.enter(scene);
    this.#sequences++;
    for (const [at, request] of requests.entries()) {
      if (!this.#hasTime()) return;
      const { differences, diverged } = await this.#compare(lane, request);
      if (diverged) return;
      if (differences.length === 0) continue;
      await this.#found(lane, [...scenes[scene], ...requests.slice(0, at + 1)], differences);
      return;
    }
  }

  async #compare(lane: Lane, request: CompareRequest) {
    this.#coverage.note(request);
    return await lane.compare(request);
  }

  /**
   * Reports the first finding of its kind, if the same requests show it again: a server that is busy may fail once.
   * True where the lane's database is no longer that of before.
   */
  async #found(lane: Lane, requests: readonly CompareRequest[], differences: Difference[]): Promise<boolean> {
    const kind = kindOf(requests.at(-1)!, differences);
    if (this.#findings.has(kind)) return false;
    let shown = differences;
    const shows = async (candidate: readonly CompareRequest[]): Promise<boolean> => {
      const found = await replay(lane, candidate);
      if (found.length === 0 || kindOf(candidate.at(-1)!, found) !== kind) return false;
      shown = found;
      return true;
    };
    if (!(await shows(requests))) {
      this.#unrepeated++;
      return true;
    }
    if (!this.#findings.add(kind)) return true;
    const shortest = this.#options.shrink ? await shrink(requests, shows) : requests.slice(-1);
    this.#options.report({ requests: shortest, differences: shown });
    return true;
  }
}

/** Fewer databases have to be made where those of one scene follow each other. */
function byScene(grid: readonly GridRequest[]): GridRequest[] {
  return grid.toSorted((a, b) => (a.scene < b.scene ? 1 : a.scene > b.scene ? -1 : 0));
}

/** The differences of the last answers, when everything is sent again to a new database; none behind an edit that diverged. */
async function replay(lane: Lane, requests: readonly CompareRequest[]): Promise<Difference[]> {
  await lane.enterEmpty();
  let last: Difference[] = [];
  for (const [at, request] of requests.entries()) {
    const { differences, diverged } = await lane.compare(request);
    if (diverged && at < requests.length - 1) return [];
    last = differences;
  }
  return last;
}
