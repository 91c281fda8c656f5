import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { describe, test } from 'node:test';
import { StartupError } from '../../src/base/startup-error.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { sendRaw } from '../support/raw-socket.js';
import { temporaryFolder } from '../support/server.js';
import { pem, pemFile, startTlsServer } from '../support/tls.js';

const server = await startTlsServer({}, { headers_timeout_ms: '400' });
const plain = new HttpClient(server.url);

interface Got {
  status: number;
  version: string;
  headers: Record<string, unknown>;
  text: string;
}

/** A request over HTTP/1.1 and TLS, by a client that checks the certificate. */
function get(port: number, options: https.RequestOptions = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = https.get(
      { host: 'localhost', port, path: '/', ca: pem('server-cert'), agent: false, ...options },
      (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            version: response.httpVersion,
            headers: response.headers,
            text,
          }),
        );
      },
    );
    request.on('error', reject);
    request.setTimeout(10_000, () => request.destroy(new Error('no answer')));
  });
}

/** What a handshake comes to: the protocol, the version and the name in the certificate, or an error. */
function handshake(
  port: number,
  options: tls.ConnectionOptions = {},
): Promise<{ alpn: unknown; version: string | null; name: unknown }> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: 'localhost', rejectUnauthorized: false, ...options }, () => {
      const name = socket.getPeerCertificate().subject.CN;
      resolve({ alpn: socket.alpnProtocol, version: socket.getProtocol(), name });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('TLS', () => {
  test('stands beside plain HTTP, and both show the same', async () => {
    assertOk(await plain.put('/both'), 201);
    const got = await get(server.tlsPort, { path: '/both' });
    assert.equal(got.status, 200);
    assert.equal(JSON.parse(got.text).db_name, 'both');
  });

  test('speaks HTTP/1.1 with those who offer nothing else, and HTTP/2 with those who offer it', async () => {
    assert.equal((await get(server.tlsPort)).version, '1.1');
    assert.equal((await handshake(server.tlsPort, { ALPNProtocols: ['h2', 'http/1.1'] })).alpn, 'h2');
    assert.equal((await handshake(server.tlsPort, { ALPNProtocols: ['http/1.1'] })).alpn, 'http/1.1');
    assert.equal((await handshake(server.tlsPort)).alpn, false);
  });

  test('addresses in answers begin with https', async () => {
    const { headers } = await get(server.tlsPort, { path: '/_utils' });
    assert.equal(headers['location'], `https://localhost:${server.tlsPort}/_utils/`);
  });

  test('what is no TLS is hung up on, and nobody else notices', async () => {
    assert.ok(!(await sendRaw(server.tlsPort, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).includes('200'));
    await sendRaw(server.tlsPort, Buffer.from([22, 3, 1, 255, 255, 1, 2, 3]));
    await sendRaw(server.tlsPort, '');
    assert.equal((await get(server.tlsPort)).status, 200);
  });

  test('who dawdles over the handshake, or over the head behind it, is hung up on', async () => {
    const until = (socket: net.Socket): Promise<number> => {
      const started = performance.now();
      socket.on('error', () => undefined).resume();
      return new Promise((resolve) => socket.on('close', () => resolve(performance.now() - started)));
    };
    assert.ok((await until(net.connect(server.tlsPort, '127.0.0.1'))) < 3000);
    const silent = tls.connect({ port: server.tlsPort, host: 'localhost', rejectUnauthorized: false });
    assert.ok((await until(silent)) < 3000);
  });

  test('speaks TLS 1.2 and 1.3, or one of them, and nothing older', async () => {
    assert.equal((await handshake(server.tlsPort)).version, 'TLSv1.3');
    assert.equal((await handshake(server.tlsPort, { maxVersion: 'TLSv1.2' })).version, 'TLSv1.2');
    await assert.rejects(
      handshake(server.tlsPort, {
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
    );
    const only3 = await startTlsServer({ tls_versions: "['tlsv1.3']" });
    await assert.rejects(handshake(only3.tlsPort, { maxVersion: 'TLSv1.2' }));
    const only2 = await startTlsServer({
      tls_versions: 'tlsv1.2',
      ciphers: '["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"]',
    });
    assert.equal((await handshake(only2.tlsPort)).version, 'TLSv1.2');
    await assert.rejects(handshake(only2.tlsPort, { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' }));
  });

  test('an idle connection does not keep the server from closing', async () => {
    const short = await startTlsServer();
    const agent = new https.Agent({ keepAlive: true });
    await get(short.tlsPort, { agent });
    const started = performance.now();
    await short.close();
    assert.ok(performance.now() - started < 2000);
    agent.destroy();
  });
});

describe('Certificates', () => {
  test('a key may have a password', async () => {
    const locked = { key_file: pemFile('server-key-encrypted') };
    const opened = await startTlsServer({ ...locked, password: 'opensesame' });
    assert.equal((await get(opened.tlsPort)).status, 200);
    await assert.rejects(startTlsServer(locked), StartupError);
    await assert.rejects(startTlsServer({ ...locked, password: 'wrong' }), StartupError);
  });

  test('what cannot be used stops the start with one line that says why', async () => {
    const wrong: [ssl: Record<string, string>, message: RegExp][] = [
      [{ cert_file: '' }, /cert_file is not set/],
      [{ key_file: '' }, /key_file is not set/],
      [{ cert_file: '/nowhere/cert.pem' }, /cert_file \/nowhere\/cert\.pem can't be read/],
      [{ key_file: pemFile('renewed-key') }, /key_file does not belong to cert_file/],
      [{ cert_file: path.resolve('package.json') }, /no PEM file/],
      [{ cacert_file: '/nowhere/ca.pem' }, /cacert_file \/nowhere\/ca\.pem can't be read/],
      [{ ciphers: 'NONSENSE' }, /ciphers/],
    ];
    for (const [ssl, message] of wrong) {
      await assert.rejects(startTlsServer(ssl), (error: unknown) => {
        assert.ok(error instanceof StartupError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /PRIVATE|opensesame|\n/);
        return true;
      });
    }
  });

  test('a port that is in use stops the start, and the other port is free again', async () => {
    const taken = String(server.tlsPort);
    await assert.rejects(startTlsServer({ port: taken }), /\[ssl\] port/);
  });

  test('are read again by _reload, and stay when the new ones are no good', async () => {
    const folder = temporaryFolder();
    const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
    fs.copyFileSync(pemFile('server-cert'), cert);
    fs.copyFileSync(pemFile('server-key'), key);
    const renewed = await startTlsServer({ cert_file: cert, key_file: key });
    const admin = new HttpClient(renewed.url);
    const reload = '/_node/_local/_config/_reload';
    assert.equal((await handshake(renewed.tlsPort)).name, 'localhost');
    fs.copyFileSync(pemFile('renewed-cert'), cert);
    const refused = await admin.post(reload);
    assertRefused(refused, 500);
    assert.match(refused.body.reason, /key_file does not belong to cert_file/);
    assert.equal((await handshake(renewed.tlsPort)).name, 'localhost');
    fs.copyFileSync(pemFile('renewed-key'), key);
    assertOk(await admin.post(reload), 200);
    assert.equal((await handshake(renewed.tlsPort)).name, 'renewed');
  });

  test('of clients are asked for and checked, and demanded where that is wanted', async () => {
    const mine = { cert: pem('client-cert'), key: pem('client-key') };
    const strangers = { cert: pem('renewed-cert'), key: pem('renewed-key') };
    const ssl = { cacert_file: pemFile('issuer-cert'), verify_ssl_certificates: 'true' };
    const asking = await startTlsServer(ssl);
    assert.equal((await get(asking.tlsPort)).status, 200);
    assert.equal((await get(asking.tlsPort, mine)).status, 200);
    await assert.rejects(get(asking.tlsPort, strangers));
    const demanding = await startTlsServer({ ...ssl, fail_if_no_peer_cert: 'true' });
    assert.equal((await get(demanding.tlsPort, mine)).status, 200);
    await assert.rejects(get(demanding.tlsPort));
    await assert.rejects(get(demanding.tlsPort, strangers));
  });

  test('their paths cannot be set over the API', async () => {
    for (const key of ['cert_file', 'key_file', 'cacert_file']) {
      assertRefused(await plain.put(`/_node/_local/_config/ssl/${key}`, '/etc/passwd'), 403, 'forbidden');
    }
  });
});
