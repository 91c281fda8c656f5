import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is read of a profile as Node writes it with `--cpu-prof`. Times are microseconds of the monotonic clock. */
interface Profile {
  startTime: number;
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** From when to when samples of a figure were taken. */
export interface Span {
  from: number;
  to: number;
}

export const monotonicMicroseconds = (): number => Number(process.hrtime.bigint() / 1000n);

/** Options with which Node writes profiles of its threads into a folder; further threads do so every second. */
export const profilingOptions = (folder: string): string[] => [
  '--cpu-prof',
  `--cpu-prof-dir=${folder}`,
  '--import',
  `${pathToFileURL(path.join(import.meta.dirname, 'profile-threads.js')).href}?folder=${encodeURIComponent(folder)}`,
];

const functionsShown = 12;
/** Threads that were at work for less than this share of the time are not shown. */
const busyShareMin = 0.05;

/** What a profile is called: date, time, process, thread, number. */
const profileName = /^CPU\.\d+\.\d+\.\d+\.(\d+)\./;

/** The profiles of a process, which has ended: one or more for each of its threads. */
export class Profiles {
  readonly #threads = new Map<string, Profile[]>();

  constructor(folder: string) {
    for (const file of fs.readdirSync(folder)) {
      const thread = profileName.exec(file)?.[1];
      if (thread === undefined) continue;
      const name = thread === '0' ? 'the thread that serves' : `thread ${thread}`;
      const profile = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as Profile;
      this.#threads.set(name, [...(this.#threads.get(name) ?? []), profile]);
    }
  }

  /** Tells on what threads spent their time in these spans: by part, and the functions that took most themselves. */
  describe(spans: readonly Span[]): string {
    const spanUs = spans.reduce((sum, { from, to }) => sum + to - from, 0);
    return [...this.#threads]
      .map(([name, profiles]) => ({ name, work: new ThreadTime(profiles, spans) }))
      .filter(({ work }) => work.busyUs > busyShareMin * spanUs)
      .sort((a, b) => b.work.busyUs - a.work.busyUs)
      .map(({ name, work }) => [name, ...work.lines()].join('\n'))
      .join('\n');
  }
}

/** On what one thread spent its time. */
class ThreadTime {
  readonly #parts = new Map<string, number>();
  readonly #functions = new Map<string, number>();
  #totalUs = 0;

  constructor(profiles: readonly Profile[], spans: readonly Span[]) {
    for (const profile of profiles) this.#add(profile, spans);
  }

  get busyUs(): number {
    return this.#totalUs - (this.#parts.get('waiting') ?? 0);
  }

  lines(): string[] {
    const share = (took: number): string => `${((100 * took) / this.#totalUs).toFixed(1)} %`;
    const parts = byTime(this.#parts).map(([part, took]) => `${part} ${share(took)}`);
    const functions = byTime(this.#functions).slice(0, functionsShown);
    return [
      `  ${parts.join(', ')}`,
      ...functions.map(([name, took]) => `  ${share(took).padStart(7)}  ${name}`),
    ];
  }

  #add(profile: Profile, spans: readonly Span[]): void {
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    let at = profile.startTime;
    profile.samples.forEach((id, i) => {
      const took = profile.timeDeltas[i]!;
      at += took;
      if (!spans.some(({ from, to }) => at >= from && at <= to)) return;
      const frame = frames.get(id)!;
      const part = partOf(frame);
      this.#totalUs += took;
      count(this.#parts, part, took);
      if (part !== 'waiting') count(this.#functions, nameOf(frame), took);
    });
  }
}

const byTime = (of: Map<string, number>): [string, number][] => [...of].sort(([, a], [, b]) => b - a);

type Frame = Profile['nodes'][number]['callFrame'];

function partOf({ functionName, url }: Frame): string {
  if (functionName === '(idle)') return 'waiting';
  // What writing the profile itself takes.
  if (functionName === 'dispatch' && url === '') return 'waiting';
  if (functionName === '(garbage collector)') return 'garbage';
  if (url === '' && /^write(v|Latin1String|Utf8String|Buffer)$/.test(functionName))
    return 'writing to sockets';
  if (url.includes('/dist/src/')) return 'this project';
  if (url.includes('/node_modules/lmdb/')) return 'lmdb';
  if (url.startsWith('node:')) return 'Node';
  return url.includes('/node_modules/') ? 'other packages' : 'native code';
}

const nameOf = ({ functionName, url, lineNumber }: Frame): string =>
  `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}${url === '' ? '' : `:${lineNumber + 1}`}`;

function count(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
