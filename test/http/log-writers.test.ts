import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { temporaryFolder } from '../support/server.js';

const admins = { admin: 'secret' };
const start = (log: Record<string, string>): Promise<TuffetServer> =>
  createServer({ inMemory: true, port: 0, admins, config: { log: { level: 'info', ...log } } });

/** Waits until a condition holds; its value is given. */
async function until<T>(find: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    const found = find();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error('The condition did not come to hold.');
}

describe('The log', () => {
  test('goes to a file, which is begun anew when it was moved away', async () => {
    const file = path.join(temporaryFolder(), 'server.log');
    const server = await start({ writer: 'file', file });
    const linesOf = (name: string): string => (fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : '');
    await until(() => /NOTICE listening/.test(linesOf(file)));
    assert.equal(fs.statSync(file).mode & 0o007, 0);
    fs.renameSync(file, `${file}.1`);
    await until(() => fs.existsSync(file));
    await fetch(`${server.url}/_up`);
    await until(() => /INFO {3}request id=\S+ method=GET path=\/_up status=200/.test(linesOf(file)));
    assert.match(linesOf(`${file}.1`), /listening/);
    assert.doesNotMatch(linesOf(`${file}.1`), /_up/);
    await server.close();
    assert.match(linesOf(file), /NOTICE stopped uptime_s=\d+\n$/);
  });

  test('goes to the data folder when no file is named; one that cannot be written stops the start', async () => {
    const dataDir = temporaryFolder();
    const config = { log: { writer: 'file' } };
    const server = await createServer({ dataDir, port: 0, admins, config });
    await server.close();
    assert.match(fs.readFileSync(path.join(dataDir, 'tuffet.log'), 'utf8'), /listening/);
    await assert.rejects(start({ writer: 'file', file: path.join(dataDir, 'none', 'x.log') }), {
      message: /^The log file .*x\.log can't be written: ENOENT/,
    });
  });

  test('goes to syslog over UDP, one message in each datagram, as text or JSON', async () => {
    for (const format of ['text', 'json']) {
      const receiver = dgram.createSocket('udp4');
      const messages: string[] = [];
      receiver.on('message', (message) => messages.push(String(message)));
      receiver.bind(0, '127.0.0.1');
      await once(receiver, 'listening');
      const server = await start({
        writer: 'syslog',
        format,
        syslog_host: '127.0.0.1',
        syslog_port: String(receiver.address().port),
        syslog_appid: 'mydb',
        syslog_facility: 'daemon',
      });
      await fetch(`${server.url}/_up`);
      const listening = await until(() => messages.find((message) => message.includes('listening')));
      const request = await until(() => messages.find((message) => message.includes('request')));
      await server.close();
      receiver.close();
      // Facility 3; severities 5 and 6.
      assert.match(listening, /^<29>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ mydb \d+ - - .*listening/);
      assert.match(request, /^<30>1 .*request/);
      if (format === 'json') {
        const json = JSON.parse(request.slice(request.indexOf('{'))) as Record<string, unknown>;
        assert.equal(json['path'], '/_up');
      }
    }
  });

  test('a host of syslog that is not there holds nothing up', async () => {
    const server = await start({ writer: 'syslog', syslog_host: 'nowhere.invalid' });
    assert.equal((await fetch(`${server.url}/_up`)).status, 200);
    await server.close();
  });

  test('has the priority before each line for journald, and no time', async () => {
    const program = path.resolve(import.meta.dirname, '../../src/main/cli.js');
    const args = ['--in-memory', '--port', '0', '--admin', 'admin:secret'];
    const env = { ...process.env, TUFFET__LOG__WRITER: 'journald' };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr.on('data', (chunk) => (text += String(chunk)));
    await until(() => /listening/.test(text));
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 0);
    assert.match(text, /^<5>listening url=http/);
    assert.match(text, /\n<5>stopped uptime_s=\d+\n$/);
  });
});
