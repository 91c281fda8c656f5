import type { Random } from '../model/random.js';
import type { ClusterUnderTest } from './cluster-under-test.js';

/** Makes something fail and comes back when it is there again, if not yet as it was. */
export type Fault = (cluster: ClusterUnderTest, random: Random) => Promise<void>;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const nodeOf = ({ nodes }: ClusterUnderTest, random: Random) => random.pick(nodes);
const serverOf = ({ nats }: ClusterUnderTest, random: Random) => random.pick(nats.servers);

export const faults: Record<string, Fault> = {
  'a node is killed': async (cluster, random) => {
    const node = nodeOf(cluster, random);
    await node.end('SIGKILL');
    await sleep(random.below(1_500));
    await node.run();
  },
  'a node is paused': async (cluster, random) => {
    const { process } = nodeOf(cluster, random);
    process.kill('SIGSTOP');
    await sleep(1_000 + random.below(5_000));
    process.kill('SIGCONT');
  },
  'the connections of a node break': async ({ links }, random) => {
    const ofNode = random.pick(links);
    for (const link of ofNode) link.cut();
    await sleep(500 + random.below(5_000));
    for (const link of ofNode) link.mend();
  },
  'a NATS server is killed': async (cluster, random) => {
    const server = serverOf(cluster, random);
    await server.kill();
    await sleep(random.below(8_000));
    await cluster.nats.run();
  },
  'the data folder of a node is lost': async (cluster, random) => {
    const node = nodeOf(cluster, random);
    await node.wipe();
    await node.run();
  },
  'everything is killed at once': async ({ nats, nodes }) => {
    await Promise.all([nats.killAll(), ...nodes.map((node) => node.end('SIGKILL'))]);
    await nats.run();
    await Promise.all(nodes.map((node) => node.run()));
  },
  'what a node sends and receives is held back': async ({ links }, random) => {
    const ofNode = random.pick(links);
    for (const link of ofNode) link.silence();
    await sleep(500 + random.below(8_000));
    for (const link of ofNode) link.mend();
  },
  'a NATS server is paused': async (cluster, random) => {
    const { pid } = serverOf(cluster, random);
    process.kill(pid, 'SIGSTOP');
    await sleep(1_000 + random.below(10_000));
    process.kill(pid, 'SIGCONT');
  },
  'all NATS servers are killed': async ({ nats }) => {
    await nats.killAll();
    await nats.run();
  },
  'all nodes are killed': async ({ nodes }) => {
    await Promise.all(nodes.map((node) => node.end('SIGKILL')));
    await Promise.all(nodes.map((node) => node.run()));
  },
  'a node is killed while a NATS server is down': async (cluster, random) => {
    const node = nodeOf(cluster, random);
    await Promise.all([serverOf(cluster, random).kill(), node.end('SIGKILL')]);
    await node.run();
    await cluster.nats.run();
  },
};
