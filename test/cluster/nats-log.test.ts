import { after, describe } from 'node:test';
import { randomUUID } from 'node:crypto';
import { NatsServers } from '../../src/cluster/nats-connection.js';
import { newStores } from '../log/stores.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { quietLogger } from './replicated-scenes.js';
import { streamLogSuites } from './stream-suites.js';

describe('logs on a NATS server', skipWithoutNats, async () => {
  const server = await TestNats.start();
  const nats = await NatsServers.connect({ servers: server.url, name: 'test' }, quietLogger);
  after(async () => {
    await nats.close();
    await server.close();
  });
  let streams = 0;
  const newStream = () => {
    const name = `S${++streams}`;
    return nats.stream({ name, subject: `s.${streams}`, replicas: 1, newEpoch: randomUUID });
  };
  streamLogSuites('JetStream', newStream, { memory: newStores.memory });
});
