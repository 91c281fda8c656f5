/**
 * The far side of `Probe`: sends one small request every few milliseconds over one connection, and remembers how long
 * each answer took. `take` asks for the figures since the last time.
 */
import http from 'node:http';
import type { ProbeFigures } from './probe.js';

const [url, everyMs] = [process.argv[2]!, Number(process.argv[3])];
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const answerWithinMs = 120_000;

let waitsMs: number[] = [];
let failures = 0;
let since: number | undefined;

function ask(): Promise<void> {
  return new Promise((resolve) => {
    since = performance.now();
    const done = (isRight: boolean): void => {
      if (since === undefined) return;
      if (!isRight) failures++;
      waitsMs.push(performance.now() - since);
      since = undefined;
      resolve();
    };
    const request = http.get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => done(response.statusCode === 200));
      response.on('error', () => done(false));
    });
    request.on('error', () => done(false));
    request.setTimeout(answerWithinMs, () => request.destroy());
  });
}

process.on('message', () => {
  const sorted = waitsMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  // A request that still waits counts with the time that it has waited so far.
  const waiting = since === undefined ? 0 : performance.now() - since;
  const figures: ProbeFigures = {
    answers: sorted.length,
    failures,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    longestMs: Math.max(at(1), waiting),
  };
  process.send!(figures);
  waitsMs = [];
  failures = 0;
});
process.on('disconnect', () => process.exit());

for (;;) {
  await ask();
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
