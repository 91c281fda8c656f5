/** An EventSource of a real browser follows a database, across a restart of the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { launchBrowser, missingBrowser } from '../support/browser.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

const skip = missingBrowser() ?? false;

test('a browser that loses the connection goes on where it was', { skip }, async () => {
  const dataDir = temporaryFolder();
  const start = (port: number): Promise<TuffetServer> =>
    createServer({
      dataDir,
      admins: { admin: 'secret' },
      port,
      logLevel: 'none',
      config: { chttpd_auth: { iterations: '100' } },
    });
  let server = await start(0);
  const client = new HttpClient(server.url);
  const browser = await launchBrowser();
  try {
    await client.put('/watched');
    await client.put('/watched/before', {});
    const page = await browser.newPage();
    await page.goto(`${server.url}/_utils/`);
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      const source = new EventSource('/watched/_changes?feed=eventsource&since=0&heartbeat=500');
      source.onmessage = ({ data }) =>
        data !== '' && seen.push((JSON.parse(data as string) as { id: string }).id);
    });
    const seen = (): Promise<string[]> =>
      page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    const until = async (id: string): Promise<void> => {
      for (let tries = 0; !(await seen()).includes(id); tries++) {
        assert.ok(tries < 150, `${id} did not come`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await until('before');
    await client.put('/watched/during', {});
    await until('during');
    await server.close();
    server = await start(client.port);
    await client.put('/watched/after', {});
    await until('after');
    assert.deepEqual(await seen(), ['before', 'during', 'after']);
  } finally {
    await browser.close();
    await server.close();
  }
});
