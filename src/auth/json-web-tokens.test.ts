import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { CompactSign, exportJWK } from 'jose';
import { Config } from '../config/config.js';
import { JsonWebTokens } from './json-web-tokens.js';

const now = 1_700_000_000_000;
const later = now / 1000 + 60;
const shared = Buffer.from('a shared key that is long enough for all');
const keyPairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
};
const pemOf = (key: KeyObject): string =>
  key.export({ type: 'spki', format: 'pem' }).toString().trimEnd().replaceAll('\n', '\\n');

function tokensOf(options: Record<string, Record<string, string>>): JsonWebTokens {
  return new JsonWebTokens(new Config({ overrides: options }), () => now);
}

function sign(
  claims: unknown,
  key: KeyObject | Uint8Array,
  header: { alg: string } & Record<string, unknown>,
): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
}

const withHmac = tokensOf({ jwt_keys: { 'hmac:_default': shared.toString('base64') } });
const claims = { sub: 'ann', exp: later };

describe('A token', () => {
  test('of every kind is accepted with the key of its kind, by its kid', async () => {
    const jwt_keys: Record<string, string> = { 'hmac:h': shared.toString('base64') };
    jwt_keys['rsa:r'] = pemOf(keyPairs.RS256.publicKey);
    for (const alg of ['ES256', 'ES384', 'ES512'] as const)
      jwt_keys[`ec:${alg}`] = pemOf(keyPairs[alg].publicKey);
    jwt_keys['eddsa:e'] = pemOf(keyPairs.EdDSA.publicKey);
    const tokens = tokensOf({ jwt_keys });
    const signed = [
      ...['HS256', 'HS384', 'HS512'].map((alg) => sign(claims, shared, { alg, kid: 'h' })),
      ...['RS256', 'RS384', 'RS512'].map((alg) => sign(claims, keyPairs.RS256.privateKey, { alg, kid: 'r' })),
      ...(['ES256', 'ES384', 'ES512'] as const).map((alg) =>
        sign(claims, keyPairs[alg].privateKey, { alg, kid: alg }),
      ),
      sign(claims, keyPairs.EdDSA.privateKey, { alg: 'EdDSA', kid: 'e' }),
    ];
    for (const token of await Promise.all(signed)) {
      const { user, until } = await tokens.user(token);
      assert.deepEqual(user, { name: 'ann', roles: [] });
      assert.equal(until, later * 1000);
    }
  });

  test('is refused when it is changed, or signed with another key', async () => {
    const token = await sign(claims, shared, { alg: 'HS256' });
    const [head, , mac] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url');
    await assert.rejects(withHmac.user(`${head}.${forged}.${mac}`), { reason: 'Bad HMAC' });
    const other = await sign(claims, Buffer.from('another key'.repeat(4)), { alg: 'HS256' });
    await assert.rejects(withHmac.user(other), { error: 'bad_request', reason: 'Bad HMAC' });
    const rsa = tokensOf({ jwt_keys: { 'rsa:_default': pemOf(keyPairs.RS256.publicKey) } });
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    await assert.rejects(rsa.user(await sign(claims, stranger, { alg: 'RS256' })), {
      reason: 'Bad signature',
    });
  });

  test('signed with the public key as if it were shared is refused', async () => {
    const tokens = tokensOf({ jwt_keys: { 'rsa:_default': pemOf(keyPairs.RS256.publicKey) } });
    const pem = Buffer.from(keyPairs.RS256.publicKey.export({ type: 'spki', format: 'pem' }).toString());
    for (const key of [pem, Buffer.from(pemOf(keyPairs.RS256.publicKey))]) {
      await assert.rejects(tokens.user(await sign(claims, key, { alg: 'HS256' })), {
        reason: 'Unknown kid',
      });
    }
  });

  test('without a signature, or of an unknown kind, is refused', async () => {
    const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const alg of ['none', 'None', 'NONE', 'hs256', 'PS256', 'ES256K', '', 1, null, ['HS256'], {}]) {
      for (const mac of ['', 'AAAA']) {
        await assert.rejects(withHmac.user(`${text({ alg })}.${text(claims)}.${mac}`), {
          error: 'bad_request',
          reason: 'Invalid alg header parameter',
        });
      }
    }
    for (const token of ['', '.', '..', '...', 'a.b', 'a.b.c', `${text({ alg: 'HS256' })}.%%.AA`]) {
      await assert.rejects(withHmac.user(token), { error: 'bad_request' });
    }
    await assert.rejects(withHmac.user(`${'x'.repeat(40_000)}.a.b`), { reason: 'Malformed token' });
    const odd = await sign(claims, shared, { alg: 'HS256', kid: 7 as unknown as string });
    await assert.rejects(withHmac.user(odd), { reason: 'Invalid kid header parameter' });
    for (const kid of ['nosuch', '__proto__', 'constructor', '_default/../x']) {
      await assert.rejects(withHmac.user(await sign(claims, shared, { alg: 'HS256', kid })), {
        reason: 'Unknown kid',
      });
    }
  });

  test('of an elliptic curve of another size is refused as a token, not as a fault of the server', async () => {
    const algorithms = ['ES256', 'ES384', 'ES512'] as const;
    for (const alg of algorithms) {
      const token = await sign(claims, keyPairs[alg].privateKey, { alg });
      for (const other of algorithms.filter((each) => each !== alg)) {
        const tokens = tokensOf({ jwt_keys: { 'ec:_default': pemOf(keyPairs[other].publicKey) } });
        await assert.rejects(tokens.user(token), { error: 'bad_request' }, `${alg} with a key of ${other}`);
      }
    }
    const secp = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    const tokens = tokensOf({ jwt_keys: { 'ec:_default': pemOf(secp.publicKey) } });
    const token = await sign(claims, keyPairs.ES256.privateKey, { alg: 'ES256' });
    await assert.rejects(tokens.user(token), { error: 'bad_request' });
  });

  test('with a key of another kind in the configuration is the fault of the server', async () => {
    const jwt_keys = { 'rsa:_default': pemOf(keyPairs.ES256.publicKey), 'ec:_default': 'no key at all' };
    const tokens = tokensOf({ jwt_keys });
    const rsa = await sign(claims, keyPairs.RS256.privateKey, { alg: 'RS256' });
    const ec = await sign(claims, keyPairs.ES256.privateKey, { alg: 'ES256' });
    for (const token of [rsa, ec])
      await assert.rejects(tokens.user(token), { error: 'internal_server_error' });
  });
});

describe('Claims', () => {
  const check = async (
    jwt_auth: Record<string, string>,
    extra: Record<string, unknown>,
  ): Promise<readonly string[]> => {
    const tokens = tokensOf({ jwt_auth, jwt_keys: { 'hmac:_default': shared.toString('base64') } });
    return (await tokens.user(await sign({ ...claims, ...extra }, shared, { alg: 'HS256' }))).user.roles;
  };

  test('give roles by a name, or at the end of a path with dots', async () => {
    assert.deepEqual(await check({}, { '_svc.roles': ['a'], '_couchdb.roles': ['b'] }), ['a']);
    assert.deepEqual(await check({}, { '_couchdb.roles': ['b'] }), ['b']);
    const named = { roles_claim_name: 'groups' };
    assert.deepEqual(await check(named, { groups: ['c'], '_couchdb.roles': ['b'] }), ['c']);
    assert.deepEqual(await check(named, { '_couchdb.roles': ['b'] }), []);
    const path = { roles_claim_path: 'app.my\\.own.roles' };
    assert.deepEqual(await check(path, { app: { 'my.own': { roles: ['d'] } } }), ['d']);
    for (const app of [undefined, null, 1, {}, { 'my.own': [] }])
      assert.deepEqual(await check(path, { app }), []);
    assert.deepEqual(await check(path, { app: { 'my.own': { roles: 'd,e' } } }), ['d', 'e']);
    const texts = { 'a,b': ['a', 'b'], ' a , b c ,': ['a', 'b c'], x: ['x'], '': [], ' , ': [] };
    for (const [roles, expected] of Object.entries(texts))
      assert.deepEqual(await check({}, { '_svc.roles': roles }), expected);
    for (const roles of [1, true, null, [1], ['a', null], { a: 1 }]) {
      await assert.rejects(check({}, { '_svc.roles': roles }), { reason: 'Malformed token' });
    }
  });

  test('are refused with 400 where a required one is missing, and with 401 where time has passed', async () => {
    const required = { required_claims: 'exp, nbf, iat, {iss, "us"}, role' };
    const all = { nbf: later - 120, iat: 'x', iss: 'us', role: 'r' };
    await assert.rejects(check(required, { ...all }), { reason: 'Invalid iat claim' });
    await check(required, { ...all, iat: 1 });
    await assert.rejects(check(required, { ...all, iat: 1, role: undefined }), {
      error: 'bad_request',
      reason: 'Missing role claim',
    });
    await assert.rejects(check({}, { exp: now / 1000 }), { error: 'unauthorized' });
    await assert.rejects(check({}, { exp: '9999999999' }), { reason: 'Invalid exp claim' });
    await assert.rejects(check({ required_claims: '[' }, {}), { error: 'internal_server_error' });
    await check({ required_claims: '' }, { exp: 1 });
  });

  test('of time may be off by as much as the configuration allows', async () => {
    await assert.rejects(check({}, { exp: now / 1000 - 10 }), { reason: 'exp not in future' });
    await check({ clock_skew: '11' }, { exp: now / 1000 - 10 });
    const nbf = { required_claims: 'nbf' };
    await assert.rejects(check(nbf, { nbf: now / 1000 + 10 }), { reason: 'nbf not in past' });
    await check({ ...nbf, clock_skew: '11' }, { nbf: now / 1000 + 10 });
  });

  test('that say when a token begins are heeded, required or not', async () => {
    await assert.rejects(check({}, { nbf: later }), { error: 'unauthorized', reason: 'nbf not in past' });
    await assert.rejects(check({ required_claims: '' }, { nbf: later }), { reason: 'nbf not in past' });
    for (const nbf of ['1', null, true, [1]])
      await assert.rejects(check({}, { nbf }), { error: 'bad_request', reason: 'Invalid nbf claim' });
    await check({}, { nbf: now / 1000 });
    await check({ clock_skew: '60' }, { nbf: later });
  });

  test('must name a user', async () => {
    await assert.rejects(check({}, { sub: undefined }), { error: 'unauthorized' });
    for (const sub of ['', 1, null, ['ann'], { a: 1 }]) {
      await assert.rejects(check({}, { sub }), { reason: 'Invalid sub claim' });
    }
  });
});

describe('A key set', () => {
  const keys: unknown[] = [];
  let answer = (response: http.ServerResponse): unknown => response.end(JSON.stringify({ keys }));
  const server = http.createServer((_, response) => answer(response));
  after(() => server.close());

  test('gives public keys that the configuration lacks, and never shared ones', async () => {
    keys.push({ ...(await exportJWK(keyPairs.RS256.publicKey)), kid: 'far', alg: 'RS256' });
    keys.push({ kty: 'oct', k: shared.toString('base64url'), kid: 'oct', alg: 'HS256' });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const jwks_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const tokens = tokensOf({ jwt_auth: { jwks_url } });
    const far = await sign(claims, keyPairs.RS256.privateKey, { alg: 'RS256', kid: 'far' });
    assert.equal((await tokens.user(far)).user.name, 'ann');
    const unknown = await sign(claims, keyPairs.RS256.privateKey, { alg: 'RS256', kid: 'nosuch' });
    await assert.rejects(tokens.user(unknown), { reason: 'Unknown kid' });
    const oct = await sign(claims, shared, { alg: 'HS256', kid: 'oct' });
    await assert.rejects(tokens.user(oct), { reason: 'Unknown kid' });
  });

  test('that cannot be fetched is a reason to try later', async () => {
    const far = await sign(claims, keyPairs.RS256.privateKey, { alg: 'RS256', kid: 'far' });
    const gone = tokensOf({ jwt_auth: { jwks_url: 'http://127.0.0.1:1/keys' } });
    await assert.rejects(gone.user(far), { error: 'service_unavailable' });
    for (const [status, text] of [
      [500, '{}'],
      [200, 'no JSON'],
      [200, '[]'],
      [200, '{"keys":1}'],
    ] as const) {
      answer = (response) => response.writeHead(status).end(text);
      const { port } = server.address() as AddressInfo;
      const broken = tokensOf({ jwt_auth: { jwks_url: `http://127.0.0.1:${port}/broken` } });
      await assert.rejects(broken.user(far), { error: 'service_unavailable' }, text);
    }
  });

  test('is found on the web only', async () => {
    const far = await sign(claims, keyPairs.RS256.privateKey, { alg: 'RS256', kid: 'far' });
    const addresses = [
      'no address',
      'file:///etc/passwd',
      'data:application/json,{"keys":[]}',
      'ftp://x/',
      'http://',
    ];
    for (const jwks_url of addresses) {
      const config = new Config({ overrides: { jwt_auth: { jwks_url } } });
      assert.equal(config.problems().length, 1, jwks_url);
      assert.throws(() => new Config().set('jwt_auth', 'jwks_url', jwks_url), { error: 'bad_request' });
      await assert.rejects(tokensOf({ jwt_auth: { jwks_url } }).user(far), { reason: 'Unknown kid' });
    }
  });
});
