import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { NatsServers, type NatsOptions } from '../../src/cluster/nats-connection.js';
import { endWithParent } from '../support/end-with-parent.js';
import { pemFile } from '../support/tls.js';
import { freePort, skipWithoutNats, TestNats, untilListening } from './nats-servers.js';
import { quietLogger } from './replicated-scenes.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const serverFiles = `cert_file: "${pemFile('server-cert')}", key_file: "${pemFile('server-key')}"`;
const caFile = pemFile('server-cert');
const own = { certFile: pemFile('client-cert'), keyFile: pemFile('client-key') };

describe('NATS servers that nodes log in to', skipWithoutNats, () => {
  test('a node with a password, over TLS, with a certificate of its own', async () => {
    const nats = await natsWith(
      `authorization { user: tuffet, password: "right one" }
       tls { ${serverFiles}, ca_file: "${pemFile('issuer-cert')}", verify: true }`,
    );
    const settings = {
      nats_user: 'tuffet',
      nats_password: 'right one',
      nats_ca_file: caFile,
      nats_cert_file: own.certFile,
      nats_key_file: own.keyFile,
    };
    const node = await TestNode.start({ nats: nats.url, name: 'a', settings });
    after(() => node.close());
    assert.equal((await node.client.put('/db')).status, 201);
    const login = { user: 'tuffet', password: 'right one', tls: { caFile, ...own } };
    await refused(nats, { ...login, password: 'wrong one' }, /[Aa]uthorization/);
    await refused(nats, { tls: login.tls }, /[Aa]uthorization/);
    await refused(nats, { ...login, tls: { ...own } }, /certificate/);
    await refused(nats, { ...login, tls: { caFile } }, /No NATS server/);
    await refused(
      nats,
      { ...login, tls: { caFile: '/nowhere.pem' } },
      /nowhere\.pem, which \[cluster\] names/,
    );
  });

  test('by a token', async () => {
    const nats = await natsWith('authorization { token: "a token" }');
    const connection = await NatsServers.connect({ ...named(nats), token: 'a token' }, quietLogger);
    await connection.close();
    await refused(nats, { token: 'another' }, /[Aa]uthorization/);
    await refused(nats, { credentialsFile: '/nowhere.creds' }, /nowhere\.creds, which \[cluster\] names/);
  });

  test('a server without TLS is refused where TLS is wanted', async () => {
    const nats = await natsWith('');
    await refused(nats, { tls: { caFile } }, /does not support 'tls'/);
    await refused(nats, { servers: nats.url.replace('nats:', 'tls:') }, /does not support 'tls'/);
  });

  test('servers that have no JetStream yet are waited for', async () => {
    const port = await freePort();
    const plain = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    endWithParent(plain);
    await untilListening(port);
    const waited: unknown[] = [];
    const logger = { ...quietLogger, notice: (about: unknown) => waited.push(about) } as typeof quietLogger;
    const connecting = NatsServers.connect({ servers: `nats://127.0.0.1:${port}`, name: 'test' }, logger);
    await until(() => waited.length > 0);
    const ended = once(plain, 'exit');
    plain.kill('SIGKILL');
    await ended;
    const nats = await TestNats.start({ port });
    after(() => nats.close());
    const connection = await connecting;
    await connection.close();
  });

  test('a server that may lose what it has confirmed is refused', async () => {
    const nats = await natsWith('');
    const settings = { allow_unsafe_log: 'false' };
    const node = new TestNode({ nats: nats.url, name: 'a', settings });
    after(() => node.close());
    await assert.rejects(node.run(), /version 2\.9\.|monitoring port|sync_interval/);
  });
});

const named = ({ url }: TestNats): NatsOptions => ({ servers: url, name: 'test' });

async function natsWith(text: string): Promise<TestNats> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-nats-'));
  const file = path.join(folder, 'nats.conf');
  fs.writeFileSync(file, text);
  const nats = await TestNats.start({ folder, args: ['-c', file] });
  after(() => nats.close());
  return nats;
}

async function refused(nats: TestNats, options: Partial<NatsOptions>, reason: RegExp): Promise<void> {
  await assert.rejects(NatsServers.connect({ ...named(nats), ...options }, quietLogger), reason);
}
