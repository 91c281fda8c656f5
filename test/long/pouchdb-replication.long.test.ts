import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { FlakyProxy } from '../replication/front.js';
import { leavesOf, live, openPouch, settled, type Pouch } from '../replication/pouch.js';
import { authorization, ServerProcess } from './server-process.js';

const documents = 10_000;
const kills = 6;
const rounds = 60;

/** One random edit of a PouchDB: a new document, a change, a deletion, a conflict or an attachment. */
async function edit(pouch: Pouch, random: Random): Promise<void> {
  const id = `doc${random.below(documents * 1.1)}`;
  const known = await pouch.get(id).catch(() => undefined);
  const what = random.below(10);
  if (known !== undefined && what === 0)
    return void (await pouch.remove(id, String(known['_rev'])).catch(() => 0));
  if (what === 1) {
    const rev = `1-${random.hex(32)}`;
    return void (await pouch.bulkDocs([{ _id: id, _rev: rev, v: 'conflict' }], { new_edits: false }));
  }
  const data = Buffer.from(random.bytes(random.below(20_000)), 'latin1').toString('base64');
  const files = what === 2 ? { _attachments: { f: { content_type: 'image/png', data } } } : {};
  const doc = { _id: id, ...(known && { _rev: String(known['_rev']) }), v: random.below(1_000), ...files };
  await pouch.put(doc).catch(() => undefined);
}

/** The same on the server, which may be down. */
async function editThere(server: ServerProcess, random: Random): Promise<void> {
  const id = `doc${random.below(documents * 1.1)}`;
  const url = `${server.url}/db/${id}`;
  try {
    const known = (await (await fetch(url, { headers: { authorization } })).json()) as { _rev?: string };
    const body = JSON.stringify({ ...(known._rev && { _rev: known._rev }), v: random.below(1_000) });
    await fetch(url, { method: 'PUT', headers: { authorization }, body });
  } catch {
    // It is just being killed.
  }
}

test(
  `PouchDB and a server that is killed again and again, over connections that break, end with the same leaves (seed ${seed})`,
  { timeout: 600_000 },
  async (t) => {
    const random = new Random(seed);
    const server = await ServerProcess.start(t);
    await server.createDatabase('db');
    const port = (): number => Number(new URL(server.url).port);
    const flaky = await FlakyProxy.start(port, seed, 1_000_000);
    const through = `http://admin:secret@127.0.0.1:${flaky.port}/db`;
    const pouch = openPouch();
    for (let at = 0; at < documents; at += 1_000) {
      const docs = Array.from({ length: 1_000 }, (_, n) => ({
        _id: `doc${at + n}`,
        v: 0,
        text: 'x'.repeat(100),
      }));
      await pouch.bulkDocs(docs);
    }
    const going = [live(pouch, openPouch(through)), live(openPouch(through), pouch)];
    t.after(() => {
      for (const each of going) each.cancel();
    });
    for (let round = 1; round <= rounds; round++) {
      for (let edits = random.below(40); edits > 0; edits--) {
        await edit(pouch, random);
        await editThere(server, random);
      }
      if (round % (rounds / kills) === 0) {
        await server.stop('SIGKILL');
        await sleep(random.below(300));
        await server.start();
      }
      await sleep(random.below(100));
    }
    flaky.bytesMost = Infinity;
    const direct = () => openPouch(`${server.url.replace('://', '://admin:secret@')}/db`);
    const different = await settled(
      () => leavesOf(pouch),
      () => leavesOf(direct()),
      300_000,
    );
    assert.deepEqual(different, []);
    assert.ok(flaky.cuts > 0);
    assert.ok((await leavesOf(pouch)).size > documents);
    t.diagnostic(`${flaky.cuts} connections broken, ${kills} kills`);
    await pouch.destroy();
  },
);
