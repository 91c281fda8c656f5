import { connect } from '@nats-io/transport-node';
import { createHmac } from 'node:crypto';

/** Tells the nodes of a cluster that a node is at an address, as nodes do. Gives the function that ends it. */
export async function tellOfMember(
  nats: string,
  name: string,
  url: string,
  more: object = {},
): Promise<() => Promise<void>> {
  const connection = await connect({ servers: nats });
  const text = JSON.stringify({ name, url, positions: {}, ...more });
  const signature = createHmac('sha256', 'shared').update(text).digest('hex');
  const tell = (): void => connection.publish('tuffet.nodes', `${signature} ${text}`);
  const timer = setInterval(tell, 500);
  tell();
  return async () => {
    clearInterval(timer);
    await connection.close();
  };
}
