import { after, describe } from 'node:test';
import { notYet } from '../golden/not-yet.js';
import { playOn } from '../golden/play-families.js';
import { readFamilies, type Family } from '../golden/scenario.js';
import { AlternatingProxy } from './alternating-proxy.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

/** Scenarios that fail where each request goes to another node. */
const notInCluster = new Map([
  ['lockout-after-repeated-failures', 'each node counts failed logins by itself'],
  ['lockout-default-is-five-failures', 'each node counts failed logins by itself'],
  ['view-copied-design-document-serves-the-same-rows', 'each node has indexes of its own'],
  ['find-stale-and-update-false-on-unbuilt-index', 'each node has indexes of its own'],
  ['view-freshness', 'each node has indexes of its own'],
  ['cluster-setup-state', 'the node is one of a cluster'],
  ['cluster-setup-state-of-a-finished-single-node', 'the node is one of a cluster'],
  ['cluster-setup-bad-actions', 'the node is one of a cluster'],
]);

/** What a real CouchDB answered, played on three nodes: each request goes to another one than the request before. */
describe('golden scenarios on three nodes', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { reads: 'fresh' };
  const environment = { TUFFET__CHTTPD__X_FORWARDED_HOST: 'X-Forwarded-Host' };
  const names = ['a@127.0.0.1', 'b@127.0.0.1', 'c@127.0.0.1'];
  const nodes = await Promise.all(
    names.map((name) => TestNode.start({ nats: nats.url, name, settings, environment })),
  );
  // Until one of them does what is done once per cluster, replications cannot be begun.
  for (const { client } of nodes)
    await until(async () => (await client.get('/_cluster')).body.owner !== null);
  const urls = nodes.map(({ client }) => client.url);
  const proxy = new AlternatingProxy(urls, names);
  after(async () => {
    await proxy.close();
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  playOn(await proxy.listen(), families(), new Map([...notYet, ...notInCluster]));
});

/** All, or those that TUFFET_FAMILIES names, separated by commas. */
function families(): Family[] {
  const named = process.env['TUFFET_FAMILIES']?.split(',');
  return readFamilies().filter(({ name }) => named?.includes(name) ?? true);
}
