import { TestNatsCluster } from '../../test/cluster/nats-servers.js';
import { TestNode } from '../../test/cluster/test-node.js';

/** Three NATS servers and three nodes on this machine. */
export class BenchCluster {
  private constructor(
    private readonly nats: TestNatsCluster,
    readonly nodes: readonly [TestNode, TestNode, TestNode],
  ) {}

  static async start(): Promise<BenchCluster> {
    const nats = await TestNatsCluster.start();
    const settings = { replicas: '3', streams: '16' };
    const start = (name: string): Promise<TestNode> => TestNode.start({ nats: nats.url, name, settings });
    return new BenchCluster(nats, await Promise.all([start('a'), start('b'), start('c')]));
  }

  async createDatabase(name: string): Promise<void> {
    const answer = await this.nodes[0].client.put(`/${name}`);
    if (answer.status !== 201) throw new Error(`PUT /${name} was answered ${answer.status}.`);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.nats.close();
  }
}
