/**
 * What search indexes cost, with generous limits; `npm run bench -- search-build` compares rates. TUFFET_TEXTS=100000 prints what that
 * many texts take.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { processorSeconds } from '../../bench/processor-time.js';
import { makeTexts } from '../../bench/texts.js';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

const textsCount = Number(process.env['TUFFET_TEXTS'] ?? 4_000);
/** A build of 100,000 texts needs no more than this either. */
const growthMax_mb = 600;
/** Twice FTS5's time, that of the functions and of the compiler, which a short build mostly consists of, and room for noise. */
const buildShareMax = 25;
const changes = 20;
const changeMax_ms = 400;

const search = '/texts/_design/s/_search/text';

/** Waits for a build as long as it takes. */
async function send(server: ServerProcess, method: string, to: string, body?: object): Promise<Answer> {
  const headers = { authorization, 'Content-Type': 'application/json' };
  const answer = await fetch(server.url + to, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(answer.ok, `${method} ${to}: ${answer.status}`);
  return (await answer.json()) as Answer;
}

type Answer = Record<string, unknown>;

function insertIntoFts5(folder: string, texts: readonly string[]): void {
  const database = new Database(path.join(folder, 'fts5.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE texts USING fts5(body); BEGIN');
  const insert = database.prepare('INSERT INTO texts (body) VALUES (?)');
  for (const text of texts) insert.run(text);
  database.exec('COMMIT');
  database.close();
}

test('an index is built and updated within bounds of time and memory', { skip: withoutProc }, async (t) => {
  const server = await ServerProcess.start(t);
  const texts = makeTexts(textsCount);
  await send(server, 'PUT', '/texts');
  for (let at = 0; at < textsCount; at += 1_000) {
    const docs = texts.slice(at, at + 1_000).map((text, i) => ({ _id: String(at + i), text }));
    await send(server, 'POST', '/texts/_bulk_docs', { docs });
  }
  const used = (): number => processorSeconds(server.pid);

  const begun = used();
  const index = `function (doc) { index('default', doc.text); }`;
  await send(server, 'PUT', '/texts/_design/s', { indexes: { text: { index } } });
  const growth_mb = await server.growth_mb(async () => {
    const { total_rows } = await send(server, 'GET', `${search}?q=*:*&limit=0`);
    assert.equal(total_rows, textsCount);
  });
  const build_s = used() - begun;
  const before = process.cpuUsage();
  insertIntoFts5(server.folder, texts);
  const { user, system } = process.cpuUsage(before);
  const fts5_s = (user + system) / 1e6;

  const updatesBegun = used();
  for (let i = 0; i < changes; i++) {
    const doc = await send(server, 'GET', `/texts/${i * 7}`);
    const text = `${texts[(i * 7 + 1) % textsCount]!} found${i}`;
    await send(server, 'PUT', `/texts/${i * 7}`, { ...doc, text });
    const { total_rows } = await send(server, 'GET', `${search}?q=found${i}`);
    assert.equal(total_rows, 1, 'a changed document is found by the next search');
  }
  const change_ms = ((used() - updatesBegun) / changes) * 1_000;

  t.diagnostic(
    `build: ${build_s.toFixed(1)} s of processor time, FTS5 ${fts5_s.toFixed(1)} s, ` +
      `${growth_mb.toFixed(0)} MB more; ${change_ms.toFixed(0)} ms for a changed document`,
  );
  assert.ok(growth_mb < growthMax_mb, `${growth_mb} MB`);
  assert.ok(build_s < fts5_s * buildShareMax, `${build_s} s, FTS5 ${fts5_s} s`);
  assert.ok(change_ms < changeMax_ms, `${change_ms} ms`);
});
