import { CuttableProxy } from './cuttable-proxy.js';
import { TestNatsCluster } from './nats-servers.js';
import { TestNode } from './test-node.js';

const names = ['a', 'b', 'c'];

/** Three NATS servers and three nodes, each with connections of its own to the servers that can fail. */
export class ClusterUnderTest {
  private constructor(
    readonly nats: TestNatsCluster,
    readonly nodes: readonly TestNode[],
    /** The connections of each node. */
    readonly links: readonly (readonly CuttableProxy[])[],
  ) {}

  static async start(settings: Record<string, string>): Promise<ClusterUnderTest> {
    const nats = await TestNatsCluster.start();
    const links = await Promise.all(
      names.map(() => Promise.all(nats.servers.map(({ port }) => CuttableProxy.start(port)))),
    );
    const started = names.map((name, at) => {
      const addresses = links[at]!.map(({ port }) => `nats://127.0.0.1:${port}`).join(',');
      return TestNode.start({ nats: addresses, name, settings: { ...settings, replicas: '3' } });
    });
    return new ClusterUnderTest(nats, await Promise.all(started), links);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    for (const link of this.links.flat()) link.close();
    await this.nats.close();
  }
}
