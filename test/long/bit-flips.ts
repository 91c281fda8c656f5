import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { copyOf, filledFolder, withServer } from '../faults/data-folder.js';
import { Random, seed } from '../model/random.js';
import { assertOk } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import type { Report, Task } from './flip-checker.js';

/** Restarts after which a server that damage has ended must refuse to start. */
const restartsMax = 3;
const pageBytes = 4096;
const headBytes = 64;
/** Nothing that is asked of so small a folder takes nearly as long. */
const answerMs = 60_000;
/** Of the folders that the check finds damaged, one in so many is served too. */
const servedShare = 5;

async function fill(client: HttpClient): Promise<void> {
  const docs = Array.from({ length: 40 }, (_, n) => ({ _id: `more${n}`, n, text: 'y'.repeat(n * 200) }));
  const { body } = await client.post('/d/_bulk_docs', { docs });
  const edits = (body as { id: string; rev: string }[]).flatMap(({ id, rev }, n): object[] => {
    if (n % 3 === 0) return [{ _id: id, _rev: rev, n: -n }];
    return n % 5 === 1 ? [{ _id: id, _rev: rev, _deleted: true }] : [];
  });
  assertOk(await client.post('/d/_bulk_docs', { docs: edits }), 201);
  const headers = { 'content-type': 'text/plain' };
  assertOk(await client.send('PUT', '/d/small/att', { raw: 'a small attachment '.repeat(50), headers }), 201);
  assertOk(await client.put('/d/_local/mark', { at: 7 }), 201);
  assertOk(await client.put('/d/_security', { members: { names: ['ann'] } }), 200);
}

/** Everything that is asked of a damaged folder, with the right answers. */
async function answers(client: HttpClient): Promise<Record<string, string>> {
  const { rows } = (await client.get('/d/_all_docs')).body as { rows: { id: string }[] };
  const ids = rows.map(({ id }) => id).filter((id, n) => n % 4 === 0 || !id.startsWith('doc'));
  const paths = [
    ...ids.map((id) => `/d/${id}?revs=true`),
    '/d/_all_docs?include_docs=true',
    '/d/_local/mark',
    '/d/small/att',
    '/d/att/large',
    '/d/_security',
    '/d/_design/v/_view/v?reduce=false',
    '/d/_design/v/_view/v',
    '/_all_dbs',
  ];
  const found: Record<string, string> = {};
  for (const at of paths) {
    const answer = await client.get(at);
    assertOk(answer, 200);
    found[at] = answer.text;
  }
  return found;
}

const isData = (name: string): boolean =>
  name.endsWith('data.mdb') || name === 'tuffet.json' || /[0-9a-f]{62}$/.test(name);

/** Every other one in the head of a page, where LMDB has its own numbers. */
function placeIn(length: number, random: Random): number {
  if (random.below(2) === 0 || length < pageBytes) return random.below(length);
  return random.below(Math.floor(length / pageBytes)) * pageBytes + random.below(headBytes);
}

function flip(folder: string, random: Random): string {
  const file = random.pick((fs.readdirSync(folder, { recursive: true }) as string[]).filter(isData).sort());
  const bytes = fs.readFileSync(path.join(folder, file));
  const at = placeIn(bytes.length, random);
  bytes[at]! ^= 1 + random.below(255);
  fs.writeFileSync(path.join(folder, file), bytes);
  return `byte ${at} of ${file}`;
}

class Checker {
  #child: ChildProcess | undefined;

  /** What the process says, or undefined where it was ended. */
  async run(task: Task, where: string): Promise<Report | undefined> {
    const child = (this.#child ??= fork(fileURLToPath(new URL('flip-checker.js', import.meta.url))));
    let timer;
    const report = await new Promise<Report | undefined>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Report));
      child.once('exit', () => resolve(undefined));
      child.send(task);
      timer = setTimeout(() => reject(new Error(`${where} has it go on for ever`)), answerMs);
    });
    clearTimeout(timer);
    child.removeAllListeners();
    if (report === undefined) this.#child = undefined;
    return report;
  }

  close(): void {
    this.#child?.kill('SIGKILL');
  }
}

/** Changes one byte in each of many copies of a data folder, until there are so many or the time is over. */
export function testBitFlips(flips: number, durationMs: number): void {
  test(`a changed byte is found by the check, or changes no answer (seed ${seed})`, async (t) => {
    const filled = await filledFolder();
    await withServer(filled, fill);
    const expected = await withServer(filled, answers);
    const random = new Random(seed);
    const checker = new Checker();
    t.after(() => checker.close());
    const counts = { flips: 0, found: 0, refusing: 0, crashes: 0 };
    const endsAt = Date.now() + durationMs;
    while (counts.flips < flips && (counts.flips === 0 || Date.now() < endsAt)) {
      const folder = copyOf(filled);
      const where = flip(folder, random);
      counts.flips++;
      // The command runs the check in a process of its own, and reports that it was ended.
      const checked = await checker.run({ check: folder }, where);
      const isFound = checked === undefined || checked.found.length > 0;
      if (isFound) counts.found++;
      if (!isFound || counts.found % servedShare === 0) {
        const { refused, crashes } = await serveUntilSettled(checker, folder, expected, where);
        counts.crashes += crashes;
        if (refused > 0) counts.refusing++;
        if (!isFound) assert.equal(refused + crashes, 0, `${where} is not found by the check`);
      }
      fs.rmSync(folder, { recursive: true, force: true });
    }
    t.diagnostic(JSON.stringify(counts));
  });
}

/** A process that was ended is started again, as a service manager does. */
async function serveUntilSettled(
  checker: Checker,
  folder: string,
  expected: Record<string, string>,
  where: string,
): Promise<{ refused: number; crashes: number }> {
  for (let crashes = 0; crashes <= restartsMax; crashes++) {
    const served = await checker.run({ serve: folder, expected }, where);
    if (served === undefined) continue;
    assert.deepEqual(served.wrong, [], where);
    return { refused: served.refused, crashes };
  }
  throw new Error(`${where} ends the server again and again`);
}
