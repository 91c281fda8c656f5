import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
await newDb(client);

interface Board {
  panels: { title: string; targets: { expr: string }[] }[];
}

test('every figure of the Grafana board is one that the server gives', async () => {
  const board = JSON.parse(fs.readFileSync('docs/grafana-dashboard.json', 'utf8')) as Board;
  const { text } = await client.get('/_node/_local/_prometheus');
  const given = new Set(text.split('\n').map((line) => /^[a-z_]+/.exec(line)?.[0]));
  const wanted = board.panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(?:couchdb|tuffet)_[a-z_]+/g) ?? []),
  );
  assert.ok(wanted.length > 10);
  assert.deepEqual(
    wanted.filter((name) => !given.has(name)),
    [],
  );
});

test('figures of volumes, tasks, heap and event loop are plausible', async () => {
  const { text } = await client.get('/_node/_local/_prometheus');
  const value = (name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  assert.ok(value('tuffet_volume_file_bytes{volume="0"}') >= value('tuffet_volume_used_bytes{volume="0"}'));
  assert.ok(value('tuffet_volume_used_bytes{volume="0"}') > 0);
  assert.equal(value('tuffet_active_tasks{type="indexer"}'), 0);
  assert.ok(value('tuffet_heap_used_bytes') > 1_000_000);
  const busy = value('tuffet_event_loop_utilization');
  assert.ok(busy >= 0 && busy <= 1, String(busy));
});
