import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestError } from '../base/errors.js';
import { anonymous } from '../base/user-context.js';
import { Config } from '../config/config.js';
import { addressOf, proxyAddressOf, withoutLogin, type RemoteEndpoint } from './endpoint.js';
import { fullId, replicationId } from './replication-id.js';
import { parseSpec } from './spec.js';

const config = new Config();
const parse = (body: Record<string, unknown>, localNames = true) =>
  parseSpec(body, { config, user: anonymous, localNames });
const ends = { source: 'http://host/a', target: 'b' };
const sourceOf = (source: unknown) => parse({ source, target: 'b' }).source as RemoteEndpoint;

function refused(body: Record<string, unknown>, error: string, reason: RegExp, localNames = true): void {
  assert.throws(
    () => parse(body, localNames),
    (thrown) => thrown instanceof RequestError && thrown.error === error && reason.test(thrown.reason),
    JSON.stringify(body),
  );
}

describe('an endpoint', () => {
  test('is an address, whose login is taken out of it', () => {
    const { url, login } = sourceOf('http://me:p%40ss@host:80/a%2Fb');
    assert.equal(url, 'http://host/a%2Fb/');
    assert.deepEqual(login, { name: 'me', password: 'p@ss' });
  });

  test('is an object with headers and a login of its own', () => {
    const { headers, login } = sourceOf({
      url: 'https://host/a/',
      headers: { 'X-Thing': 'yes', Authorization: `Basic ${Buffer.from('me:se:cret').toString('base64')}` },
    });
    assert.deepEqual(headers, { 'x-thing': 'yes' });
    assert.deepEqual(login, { name: 'me', password: 'se:cret' });
    const auth = { basic: { username: 'you', password: 'x' } };
    assert.deepEqual(sourceOf({ url: 'http://me:y@host/a', auth }).login, { name: 'you', password: 'x' });
    const token = sourceOf({ url: 'http://host/a', headers: { Authorization: 'Bearer abc' } });
    assert.deepEqual([token.login, token.headers], [undefined, { authorization: 'Bearer abc' }]);
  });

  test('ignores an `auth` without a complete login', () => {
    for (const auth of [{}, { basic: {} }, { basic: 5 }, { basic: { username: 'you' } }, { oauth: {} }]) {
      const { login } = sourceOf({ url: 'http://me:secret@host/a', auth });
      assert.deepEqual(login, { name: 'me', password: 'secret' }, JSON.stringify(auth));
    }
    const auth = { basic: { username: 'you', password: 'b' }, iam: {} };
    assert.equal(sourceOf({ url: 'http://me:secret@host/a', auth }).login?.name, 'you');
  });

  test('is the name of a database of this server, where that is allowed', () => {
    assert.deepEqual(parse({ source: 'a/b', target: 'b' }).source, { kind: 'local', name: 'a/b' });
    refused(
      { source: 'a', target: 'http://host/b' },
      'bad_rep_doc',
      /^local_endpoints_not_supported$/,
      false,
    );
  });

  test('is refused where it is anything else', () => {
    refused({ target: 'b' }, 'error', /^Missing/);
    refused({ source: '', target: 'b' }, 'bad_rep_doc', /^endpoint has an invalid url$/);
    refused({ source: '', target: 'b' }, 'bad_rep_doc', /^local_endpoints_not_supported$/, false);
    for (const source of [{}, { headers: {} }])
      refused({ source, target: 'b' }, 'invalid_replication', /^endpoint has an invalid url$/);
    for (const source of [5, [], true, null])
      refused({ source, target: 'b' }, 'bad_rep_doc', /must be an address/);
    for (const url of [
      'x',
      5,
      'ftp://host/a',
      'http://host',
      'http://host/',
      'http://host/a?b=c',
      'http://host/a#b',
      'http:///a',
      'http://%zz@host/a',
    ])
      refused({ source: { url }, target: 'b' }, 'bad_rep_doc', /^endpoint has an invalid url$/);
    for (const headers of [5, [], { a: 5 }, { 'a b': 'x' }, { a: 'x\r\ny: z' }])
      refused({ source: { url: 'http://host/a', headers }, target: 'b' }, 'bad_rep_doc', /header/);
    for (const auth of [5, [], null, 'x'])
      refused({ source: { url: 'http://host/a', auth }, target: 'b' }, 'bad_rep_doc', /`auth`/);
    for (const source of ['ftp://host/a', 'x://host'])
      refused({ source, target: 'b' }, 'bad_rep_doc', /^local_endpoints_not_supported$/, false);
  });

  test('is shown without a login, whatever its form', () => {
    assert.equal(addressOf(sourceOf('http://me:secret@host/a')), 'http://host/a/');
    assert.equal(withoutLogin('http://me:secret@host/a'), 'http://host/a');
    assert.equal(withoutLogin('http://me:se@cret@host/a'), 'http://host/a');
    const { source } = parse({ ...ends, proxy: 'socks5://me:secret@proxy:1080' });
    assert.equal(proxyAddressOf(source), 'socks5://proxy:1080');
  });
});

describe('a specification', () => {
  test('has the options of the configuration, and its own', () => {
    const plain = parse(ends);
    assert.deepEqual(
      [plain.continuous, plain.workers, plain.batchSize, plain.useBulkGet],
      [false, 4, 500, true],
    );
    const own = parse({
      ...ends,
      worker_processes: '2',
      worker_batch_size: 7,
      use_bulk_get: false,
      unknown: 1,
    });
    assert.deepEqual([own.workers, own.batchSize, own.useBulkGet], [2, 7, false]);
  });

  test('is refused for options of the wrong type', () => {
    for (const name of ['continuous', 'create_target', 'winning_revs_only', 'use_bulk_get'])
      for (const value of ['x', null])
        refused(
          { ...ends, [name]: value },
          'bad_request',
          new RegExp(`^parameter \`${name}\` must be a boolean$`),
        );
    for (const name of ['query_params', 'create_target_params'])
      refused({ ...ends, [name]: null }, 'bad_request', new RegExp(`^parameter \`${name}\` must be`));
    for (const value of [0, -1, 1.5, 'x', {}, 1e12])
      refused({ ...ends, worker_processes: value }, 'bad_request', /`worker_processes` must be an integer/);
    refused({ ...ends, doc_ids: 'a' }, 'bad_request', /^parameter `doc_ids` must be an array$/);
    refused({ ...ends, doc_ids: [5] }, 'bad_request', /`doc_ids`/);
    for (const selector of [[], null])
      refused({ ...ends, selector }, 'bad_request', /^parameter `selector` must be a JSON object$/);
    refused({ ...ends, selector: { a: { $nope: 1 } } }, 'invalid_operator', /\$nope/);
    refused({ ...ends, filter: 5 }, 'bad_request', /`filter` must be a string/);
    refused({ ...ends, filter: 'bad' }, 'error', /ddocname\/filtername/);
    refused({ ...ends, query_params: [] }, 'bad_request', /`query_params`/);
    refused({ ...ends, since_seq: {} }, 'bad_request', /`since_seq`/);
    refused({ ...ends, create_target_params: { q: {} } }, 'bad_request', /create_target_params\.q/);
    refused({ ...ends, source_proxy: 'ftp://host' }, 'bad_request', /`source_proxy`/);
    refused({ ...ends, doc_ids: [], selector: {} }, 'bad_request', /mutually exclusive/);
    refused({ ...ends, proxy: 'http://p', target_proxy: 'http://p' }, 'bad_request', /`target_proxy`/);
  });

  test('does without checkpoints only where they are false', () => {
    for (const use_checkpoints of [undefined, true, null, 'x', 0])
      assert.equal(parse({ ...ends, use_checkpoints }).useCheckpoints, true);
    assert.equal(parse({ ...ends, use_checkpoints: false }).useCheckpoints, false);
  });

  test('takes document ids as they stand in addresses', () => {
    const { selection } = parse({ ...ends, doc_ids: ['b', 'a+b', 'x%2Fy', '50%', 'b'] });
    assert.deepEqual(selection, { kind: 'doc_ids', ids: ['50%', 'a b', 'b', 'x/y'] });
  });
});

describe('the id of a replication', () => {
  const filters = { filters: { f: 'function(){ return true }' } };
  const idOf = async (body: Record<string, unknown>, doc: Record<string, unknown> | undefined = filters) =>
    fullId(await replicationId(parse({ ...ends, ...body }), 'me', () => Promise.resolve(doc)));

  test('does not depend on passwords, nor on how fast it is to go', async () => {
    const plain = await idOf({ source: 'http://me:a@host/a' });
    assert.match(plain, /^[0-9a-f]{32}$/);
    for (const same of [
      { source: 'http://me:b@host:80/a/' },
      { source: { url: 'http://host/a', auth: { basic: { username: 'me', password: 'c' } } } },
      { source: 'http://me:a@host/a', worker_processes: 1, http_connections: 3, use_checkpoints: false },
    ])
      assert.equal(await idOf(same), plain, JSON.stringify(same));
  });

  test('tells continuous ones and makers of targets by its end', async () => {
    const plain = await idOf({});
    assert.equal(await idOf({ continuous: true }), `${plain}+continuous`);
    assert.equal(await idOf({ continuous: true, create_target: true }), `${plain}+continuous+create_target`);
  });

  test('depends on everything that decides which documents go where', async () => {
    const ids = await Promise.all(
      [
        {},
        { source: 'http://you:a@host/a' },
        { source: { url: 'http://host/a', headers: { 'x-tenant': '1' } } },
        { source: 'https://host/a' },
        { target: 'c' },
        { doc_ids: ['a'] },
        { doc_ids: ['b'] },
        { selector: { a: 1 } },
        { winning_revs_only: true },
        { filter: 'd/f' },
        { filter: 'd/f', query_params: { a: 1 } },
        { filter: '_design' },
      ].map((body) => idOf(body)),
    );
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(await idOf({ since_seq: 5 }), await idOf({}));
    assert.equal(await idOf({ doc_ids: ['b', 'a', 'b'] }), await idOf({ doc_ids: ['a', 'b'] }));
    assert.equal(await idOf({ selector: { a: 1, b: 2 } }), await idOf({ selector: { b: 2, a: 1 } }));
  });

  test('changes with the code of the filter, and needs it', async () => {
    const other = { filters: { f: 'function(){ return false }' } };
    assert.notEqual(await idOf({ filter: 'd/f' }), await idOf({ filter: 'd/f' }, other));
    await assert.rejects(idOf({ filter: 'd/g' }), /no filter `g`/);
    const missing = replicationId(parse({ ...ends, filter: 'd/f' }), 'me', () => Promise.resolve(undefined));
    await assert.rejects(missing, /_design\/d/);
  });
});
