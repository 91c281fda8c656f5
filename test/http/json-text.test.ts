import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });

/** Bodies of documents, without white space, that must come back byte for byte. */
const verbatim: Record<string, string> = {
  'integers beyond 2^53': '"n":12345678901234567890,"m":-9007199254740993',
  'numbers as they were written': '"a":1.0,"b":1e2,"c":-0,"d":1E+2,"e":0.10,"f":-0.0,"g":1e-7,"h":100E-2',
  'numbers that no machine can hold': `"huge":${'9'.repeat(400)},"tiny":1e-400,"long":0.1234567890123456789012345678901234`,
  'the order of members': '"z":1,"a":2,"10":3,"9":4,"":5,"_a_":{"y":1,"x":2}'.replace('"_a_"', '"m"'),
  unicode: '"é":"日本語 😀 \u{10ffff} \u0301","line":"\u2028\u2029"',
  'names that JavaScript knows':
    '"in":{"__proto__":{"a":1}},"constructor":1,"toString":null,"hasOwnProperty":[]',
  'empty values': '"a":{},"b":[],"c":"","d":null,"e":[[],{}],"f":false',
};

for (const [what, members] of Object.entries(verbatim)) {
  describe(`Stored as written: ${what}`, () => {
    test('by PUT, POST and _bulk_docs; in GET, _all_docs, _bulk_get and open_revs', async () => {
      const db = await newDb(client);
      assertOk(await client.send('PUT', `${db}/put`, { raw: `{${members}}` }), 201);
      assertOk(await client.send('POST', db, { raw: `{"_id":"post",${members}}` }), 201);
      const bulk = await client.send('POST', `${db}/_bulk_docs`, {
        raw: `{"docs":[{"_id":"bulk",${members}}]}`,
      });
      assert.equal(bulk.body[0].ok, true, bulk.text);
      await client.copy(`${db}/put`, 'copied');
      for (const id of ['put', 'post', 'bulk', 'copied']) {
        const { text, body } = await client.get(`${db}/${id}`);
        assert.equal(text, `{"_id":"${id}","_rev":"${body._rev}",${members}}\n`);
        const inside = `"_rev":"${body._rev}",${members}`;
        const others = [
          await client.get(`${db}/_all_docs?include_docs=true`),
          await client.post(`${db}/_all_docs?include_docs=true`, { keys: [id] }),
          await client.post(`${db}/_bulk_get`, { docs: [{ id }] }),
          await client.get(`${db}/${id}?open_revs=all`),
          await client.get(`${db}/${id}?rev=${body._rev}`),
        ];
        for (const answer of others) assert.ok(answer.text.includes(inside), answer.text);
      }
    });

    test('in local documents', async () => {
      const db = await newDb(client);
      await client.send('PUT', `${db}/_local/a`, { raw: `{${members}}` });
      const { text } = await client.get(`${db}/_local/a`);
      assert.equal(text, `{"_id":"_local/a","_rev":"0-1",${members}}\n`);
    });
  });
}

describe('Settled on writing', () => {
  const written = async (raw: string): Promise<string> => {
    const db = await newDb(client);
    const made = await client.send('PUT', `${db}/a`, { raw });
    assertOk(made, 201);
    const { text } = await client.get(`${db}/a`);
    return text.slice(text.indexOf('"_rev"') + '"_rev":"'.length + made.body.rev.length + 1).trim();
  };

  test('white space between tokens goes, in strings it stays', async () => {
    assert.equal(await written(' {\n "a" :\t[ 1 , 2 ] , "b c" : " d " } \r\n'), ',"a":[1,2],"b c":" d "}');
  });

  test('of members with one name one remains, and the answer is plain JSON', async () => {
    const text = await written('{"a":1,"b":2,"a":3}');
    assert.equal([...text.matchAll(/"a":/g)].length, 1, text);
    assert.equal(JSON.parse(`{${text.slice(1)}`).a, 3);
  });

  test('escaped and plain characters are the same text', async () => {
    assert.equal(JSON.parse(`{${(await written('{"\\u0061":"\\u00e9\\/"}')).slice(1)}`).a, 'é/');
  });

  test('the special members are known when they are written with escapes', async () => {
    const db = await newDb(client);
    assertRefused(await client.send('PUT', `${db}/a`, { raw: '{"\\u005fbad":1}' }), 400, 'doc_validation');
    const made = await client.send('POST', db, { raw: '{"\\u005fid":"named"}' });
    assert.equal(made.body.id, 'named');
  });
});

describe('Refused', () => {
  const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test('1,000 levels are taken, 1,001 are 400', async () => {
    const db = await newDb(client);
    assertOk(await client.send('PUT', `${db}/deep`, { raw: nested(1000) }), 201);
    assertOk(await client.get(`${db}/deep`), 200);
    assertRefused(await client.send('PUT', `${db}/deeper`, { raw: nested(1001) }), 400);
    for (const raw of [nested(100_000), '['.repeat(1_000_000), '{"a":'.repeat(100_000)]) {
      assertRefused(await client.send('PUT', `${db}/deeper`, { raw }), 400);
      assertRefused(await client.send('POST', `${db}/_bulk_docs`, { raw: `{"docs":[${raw}]}` }), 400);
      assertRefused(await client.send('POST', `${db}/_bulk_get`, { raw }), 400);
      assertRefused(await client.send('POST', `${db}/_all_docs`, { raw }), 400);
    }
  });

  test('bytes that are no UTF-8', async () => {
    const db = await newDb(client);
    for (const bytes of ['ff', 'c080', 'eda080', 'f4908080', 'e282', '80']) {
      const raw = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]);
      assertRefused(await client.send('PUT', `${db}/a`, { raw }), 400);
      assertRefused(await client.send('POST', db, { raw }), 400);
    }
    assert.equal((await client.get(db)).body.doc_count, 0);
  });

  test('control characters, bad escapes and bad numbers', async () => {
    const db = await newDb(client);
    const values = [
      '"\n"',
      '"\0"',
      '"\\x"',
      '"\\u12"',
      '01',
      '+1',
      '.5',
      '1.',
      '1e',
      '0x1',
      'NaN',
      'Infinity',
      '-',
    ];
    for (const value of values) {
      assertRefused(await client.send('PUT', `${db}/a`, { raw: `{"a":${value}}` }), 400);
    }
  });

  test('half a surrogate pair, in values, names and ids', async () => {
    const db = await newDb(client);
    const members = [
      '"a":"\\ud800"',
      '"a":"x\\udc00y"',
      '"\\ud800":1',
      '"a":"\\ud800\\ud800"',
      '"_id":"a\\udfff"',
    ];
    await assertRejected(db, members);
  });

  test('numbers beyond the range of a double, unless they are integers', async () => {
    const db = await newDb(client);
    await assertRejected(db, ['"a":1e400', '"a":[-1E+309]', `"a":${'9'.repeat(400)}.5`]);
  });

  /** By every way that a document comes in. */
  async function assertRejected(db: string, members: readonly string[]): Promise<void> {
    for (const each of members) {
      const raw = `{${each}}`;
      for (const [method, path, body] of [
        ['PUT', `${db}/a`, raw],
        ['PUT', `${db}/_local/a`, raw],
        ['POST', db, raw],
        ['POST', `${db}/_bulk_docs`, `{"docs":[{"_id":"fine"},${raw}]}`],
      ] as const)
        assertRefused(await client.send(method, path, { raw: body }), 400, 'bad_request');
    }
    assert.equal((await client.get(db)).body.doc_count, 0);
  }

  test('a null byte in an id is an id like any other, or is refused', async () => {
    const db = await newDb(client);
    const made = await client.put(`${db}/a%00b`, {});
    assert.ok([201, 400].includes(made.status), made.text);
    if (made.status === 400) return;
    assert.equal((await client.get(`${db}/a%00b`)).body._id, 'a\0b');
    assertRefused(await client.get(`${db}/a`), 404);
    assert.equal((await client.get(`${db}/_all_docs`)).body.rows[0].id, 'a\0b');
  });
});
