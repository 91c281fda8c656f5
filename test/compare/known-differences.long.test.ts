import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Finding } from '../../src/compare/findings.js';
import { compareServers } from '../../src/compare/run.js';
import { createServer } from '../../src/server/create-server.js';
import { DistortingProxy, type Passing } from '../support/distorting-proxy.js';

let servers: { url: string; close(): Promise<void> }[] = [];
let proxy: DistortingProxy;

before(async () => {
  const options = { inMemory: true, port: 0, logLevel: 'none', admins: { admin: 'secret' } } as const;
  const config = { chttpd_auth: { iterations: '100' } };
  servers = await Promise.all([1, 2].map(() => createServer({ ...options, config })));
  proxy = await new DistortingProxy(servers[1]!.url).listen();
});

after(async () => {
  proxy.close();
  await Promise.all(servers.map((server) => server.close()));
});

const status =
  (from: number, to: number, concerns: (passing: Passing) => boolean = () => true) =>
  (passing: Passing): void => {
    if (passing.status === from && concerns(passing)) passing.status = to;
  };

const text =
  (from: string | RegExp, to: string) =>
  (passing: Passing): void => {
    passing.text = passing.text.replace(from, to);
  };

/** Differences from CouchDB that earlier versions had, by the part of the grid that shows them. */
const differences: Record<string, { only: string; distort: (passing: Passing) => void }> = {
  'the deletion of an attachment by an unknown revision': {
    only: 'DELETE /{db}/{docid}/{attname}',
    distort: status(409, 404),
  },
  'an absolute destination': {
    only: 'COPY /{db}/{docid}',
    distort: status(400, 201, ({ headers }) => String(headers['destination']).startsWith('http')),
  },
  'an update function that gives a document without an id': {
    only: '_update/noid',
    distort: status(400, 201),
  },
  'a list function that calls start late': { only: '_list/late', distort: status(400, 200) },
  'the error of a list function after its first row': {
    only: 'GET /{db}/_design/{ddoc}/_list/{func}/{view} /{db}/_design/fun/_list/throws',
    distort: text(/\{"error"[^]*/, ''),
  },
  'a show function that fails without a document': {
    only: 'GET /{db}/_design/{ddoc}/_show/{func}/* /{db}/_design/fun/_show/throws',
    distort: status(404, 500),
  },
  'the revision of an illegal id in _bulk_get': {
    only: 'POST /{db}/_bulk_get',
    distort: text(/"rev":null,/g, ''),
  },
  'the name of an error': {
    only: 'GET /{db}/{docid} /{db}/_local',
    distort: text('"bad_request"', '"illegal_docid"'),
  },
  'a range that ends before it begins': { only: '/file/bytes.bin', distort: status(416, 200) },
  'more copies than there are': { only: '/{db}/new?w=', distort: status(202, 201) },
  'the choice of an index': { only: 'POST /{db}/_explain', distort: text('"name":"by-n"', '"name":"by-sn"') },
};

for (const [name, { only, distort }] of Object.entries(differences)) {
  test(`finds a difference that is put back: ${name}`, async () => {
    const found: Finding[] = [];
    proxy.distort = distort;
    await compareServers({
      reference: servers[0]!.url.replace('//', '//admin:secret@'),
      subject: `http://admin:secret@127.0.0.1:${proxy.port}`,
      minutes: 5,
      seed: 1,
      only,
      mode: 'both',
      reasons: false,
      shrink: false,
      report: (finding) => found.push(finding),
    });
    assert.ok(found.length > 0);
  });
}
