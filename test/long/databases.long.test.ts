import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { authorization, percentile, ServerProcess, withoutProc } from './server-process.js';

const databases = 100_000;
const connections = 32;
const ratePerSecondMin = 1_000;
const anonymousMax_mb = 300;
const openFilesMax = 200;
const pageMsMax = 20;
/** For a quiet machine. */
const restartMsMax = Number(process.env['TUFFET_RESTART_MS'] ?? 2_000);

const agent = new http.Agent({ keepAlive: true, maxSockets: connections });

async function ask(url: string, method: string): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent, headers: { authorization } }, (answer) => {
      let text = '';
      answer.on('data', (data) => (text += String(data)));
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

async function createAll(server: ServerProcess): Promise<number> {
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < databases) {
      const { status, text } = await ask(`${server.url}/user-${(next++).toString().padStart(6, '0')}`, 'PUT');
      assert.equal(status, 201, text);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return databases / ((performance.now() - started) / 1000);
}

async function pageMs(server: ServerProcess): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 101; i++) {
    const start = `user-${((i * 977) % databases).toString().padStart(6, '0')}`;
    const started = performance.now();
    const { status, text } = await ask(`${server.url}/_all_dbs?limit=10&startkey=%22${start}%22`, 'GET');
    times.push(performance.now() - started);
    assert.equal(status, 200);
    const names = JSON.parse(text) as string[];
    assert.equal(names.length, 10);
    assert.equal(names[0], start);
  }
  return percentile(times, 0.5);
}

function checkFootprint(server: ServerProcess, when: string): void {
  const anonymous = server.anonymous_mb();
  const files = server.openFiles();
  console.log(`${when}: RssAnon ${Math.round(anonymous)} MB, ${files} open files`);
  assert.ok(anonymous < anonymousMax_mb, `RssAnon is ${anonymous} MB`);
  assert.ok(files < openFilesMax, `${files} files are open`);
}

test('100,000 empty databases are cheap', { skip: withoutProc }, async (t) => {
  const server = await ServerProcess.start(t);

  await t.test('they are created at 1,000 a second or more', async () => {
    const rate = await createAll(server);
    console.log(`created ${databases} databases, ${Math.round(rate)} a second`);
    assert.ok(rate >= ratePerSecondMin, `only ${rate} a second`);
  });

  await t.test('they take little memory and few files', () => checkFootprint(server, 'after creation'));

  await t.test('ten names are listed at once', async () => {
    const ms = await pageMs(server);
    console.log(`_all_dbs?limit=10: ${ms.toFixed(2)} ms`);
    assert.ok(ms < pageMsMax, `${ms} ms`);
  });

  await t.test('a restart takes little time', async () => {
    const started = performance.now();
    await server.stop();
    const stopped = performance.now();
    await server.start();
    const { status } = await ask(`${server.url}/_all_dbs?limit=10`, 'GET');
    const ms = performance.now() - started;
    console.log(`restart: ${Math.round(ms)} ms, of which ${Math.round(stopped - started)} ms to stop`);
    assert.equal(status, 200);
    assert.ok(ms < restartMsMax, `${ms} ms`);
    checkFootprint(server, 'after a restart');
  });

  await t.test('reading each of a thousand of them leaves it so', async () => {
    for (let i = 0; i < databases; i += 100) {
      const { status } = await ask(`${server.url}/user-${i.toString().padStart(6, '0')}`, 'GET');
      assert.equal(status, 200);
    }
    checkFootprint(server, 'after 1,000 were read');
  });
  agent.destroy();
});
