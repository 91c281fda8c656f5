import { after, describe } from 'node:test';
import { notYet } from '../golden/not-yet.js';
import { playOn } from '../golden/play-families.js';
import { readFamilies, type Family } from '../golden/scenario.js';
import { AlternatingProxy } from './alternating-proxy.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';

/** Scenarios that fail where each request goes to another node. */
const notInCluster = new Map([
  ['lockout-after-repeated-failures', 'each node counts failed logins by itself'],
  ['lockout-default-is-five-failures', 'each node counts failed logins by itself'],
  ['view-copied-design-document-serves-the-same-rows', 'each node has indexes of its own'],
  ['membership-lists-nodes', 'there are three nodes'],
  ['shards-default-q', 'all nodes have the shards'],
  ['shards-of-a-document', 'all nodes have the shards'],
  ['shards-errors', 'all nodes have the shards'],
  ['partition-same-partition-same-shard', 'all nodes have the shards'],
  ['reshard-create-bad-ranges', 'all nodes have the shards'],
  ['reshard-split-whole-database', 'all nodes have the shards'],
  ['reshard-job-made-while-stopped-waits', 'all nodes have the shards'],
  ['reshard-by-node-and-db', 'all nodes have the shards'],
]);

/** What a real CouchDB answered, played on three nodes: each request goes to another one than the request before. */
describe('golden scenarios on three nodes', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { reads: 'fresh' };
  const environment = { TUFFET__CHTTPD__X_FORWARDED_HOST: 'X-Forwarded-Host' };
  const nodes = await Promise.all(
    ['a@127.0.0.1', 'b@127.0.0.1', 'c@127.0.0.1'].map((name) =>
      TestNode.start({ nats: nats.url, name, settings, environment }),
    ),
  );
  const proxy = new AlternatingProxy(nodes.map(({ client }) => client.url));
  after(async () => {
    await proxy.close();
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  playOn(await proxy.listen(), families(), new Map([...notYet, ...notInCluster]));
});

/**
 * Every third scenario; all of them with TUFFET_ALL_SCENARIOS=1, which takes three minutes. TUFFET_FAMILIES names
 * families, separated by commas, of which all are played.
 */
function families(): Family[] {
  const named = process.env['TUFFET_FAMILIES']?.split(',');
  const all = readFamilies().filter(({ name }) => named?.includes(name) ?? !name.endsWith('-2'));
  if (named !== undefined || process.env['TUFFET_ALL_SCENARIOS'] === '1') return all;
  let count = 0;
  const part = all.map(({ name, scenarios }) => ({
    name,
    scenarios: scenarios.filter(() => count++ % 3 === 0),
  }));
  return part.filter(({ scenarios }) => scenarios.length > 0);
}
