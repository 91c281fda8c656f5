import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noise } from '../attachments/attachment-client.js';
import { rawRequest } from './raw-client.js';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

const documents = 1_000_000;
const batch = 5_000;
const growthMax_mb = 200;
/** A tenth of what is asked for in the open, so that the test ends: memory that grew with it would show all the same. */
const fileBytes = 200 * 1024 * 1024;
const mb = (value: number): string => `${Math.round(value)} MB`;

async function load(server: ServerProcess): Promise<void> {
  for (let from = 0; from < documents; from += batch) {
    const docs = Array.from({ length: batch }, (_, at) => ({
      _id: `doc-${(from + at).toString().padStart(9, '0')}`,
      number: from + at,
      tags: ['small', 'many'],
      position: { x: at, y: -at },
    }));
    const body = JSON.stringify({ docs });
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/many/_bulk_docs`, { method: 'POST', headers, body });
    assert.equal(answer.status, 201);
    await answer.arrayBuffer();
  }
}

async function replicateWithin(server: ServerProcess, source: string, target: string): Promise<number> {
  const body = JSON.stringify({ source, target, create_target: true });
  const headers = {
    Authorization: authorization,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const growth = await server.growth_mb(async () => {
    const answer = await rawRequest({
      url: server.url,
      method: 'POST',
      path: '/_replicate',
      headers,
      body: [Buffer.from(body)],
    });
    assert.equal(answer.status, 200, answer.end);
  });
  return growth;
}

test(
  'replicating a million documents takes no memory that grows with them',
  { skip: withoutProc },
  async (t) => {
    const server = await ServerProcess.start(t);
    await server.createDatabase('many');
    await load(server);
    // What the load has left on the heap would hide the growth.
    await server.stop();
    await server.start();
    const here = server.url.replace('://', '://admin:secret@');
    for (const [title, source, target] of [
      ['within the server', 'many', 'local'],
      ['over HTTP', `${here}/many`, `${here}/remote`],
    ] as const) {
      const growth = await replicateWithin(server, source, target);
      console.log(`${title}: RssAnon +${mb(growth)}`);
      const info = (await (await fetch(`${server.url}/${target.split('/').at(-1)}`)).json()) as {
        doc_count: number;
      };
      assert.equal(info.doc_count, documents);
      assert.ok(growth < growthMax_mb, `${title}: grew by ${mb(growth)}`);
    }
  },
);

test(
  'replicating large attachments takes no memory that grows with them',
  { skip: withoutProc },
  async (t) => {
    const server = await ServerProcess.start(t);
    await server.createDatabase('files');
    const piece = noise(1024 * 1024);
    function* pieces(): Generator<Buffer> {
      for (let at = 0; at < fileBytes; at += piece.length) yield Buffer.from(piece);
    }
    for (const id of ['one', 'two']) {
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': String(fileBytes) };
      const answer = await rawRequest({
        url: server.url,
        method: 'PUT',
        path: `/files/${id}/f`,
        headers,
        body: pieces(),
      });
      assert.equal(answer.status, 201, answer.end);
    }
    const here = server.url.replace('://', '://admin:secret@');
    for (const [title, source, target] of [
      ['within the server', 'files', 'local'],
      ['over HTTP', `${here}/files`, `${here}/remote`],
    ] as const) {
      const growth = await replicateWithin(server, source, target);
      console.log(`attachments ${title}: RssAnon +${mb(growth)}`);
      assert.ok(growth < growthMax_mb, `${title}: grew by ${mb(growth)}`);
      const name = target.split('/').at(-1)!;
      const whole = await rawRequest({ url: server.url, method: 'GET', path: `/${name}/two/f` });
      assert.ok(whole.bytes > fileBytes, title);
    }
  },
);
