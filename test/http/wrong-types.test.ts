import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

const strange: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  '',
  'x',
  '1-x',
  '\u0000',
  [],
  [null],
  [1],
  ['x'],
  [[]],
  [{}],
  {},
  { a: 1 },
  { names: 1 },
  { a: ['x'] },
  { __proto__x: null },
];

const docMembers = [
  '_id',
  '_rev',
  '_deleted',
  '_revisions',
  '_attachments',
  '_conflicts',
  '_revs_info',
  '_other',
];
const listingMembers = [
  'conflicts',
  'descending',
  'endkey',
  'end_key',
  'endkey_docid',
  'end_key_doc_id',
  'include_docs',
  'inclusive_end',
  'key',
  'keys',
  'limit',
  'skip',
  'startkey',
  'start_key',
  'startkey_docid',
  'start_key_doc_id',
  'update_seq',
  'stale',
  'update',
  'stable',
  'sorted',
  'reduce',
  'group',
  'attachments',
];

const searchMembers = [
  ...[
    'q',
    'query',
    'limit',
    'bookmark',
    'sort',
    'include_docs',
    'include_fields',
    'counts',
    'ranges',
    'drilldown',
  ],
  ...[
    'group_field',
    'group_by',
    'group_limit',
    'group_sort',
    'highlight_fields',
    'highlight_pre_tag',
    'stale',
  ],
  ...['highlight_post_tag', 'highlight_number', 'highlight_size', 'partition'],
];

const queryMembers = [
  'selector',
  'limit',
  'skip',
  'sort',
  'fields',
  'use_index',
  'r',
  'bookmark',
  'update',
  'stable',
  'stale',
  'execution_stats',
  'conflicts',
  'partition',
  'allow_fallback',
  'count',
  'aggregate',
];
const operators = [
  ...['$and', '$or', '$nor', '$not', '$all', '$elemMatch', '$allMatch', '$keyMapMatch', '$lt', '$eq', '$gte'],
  ...[
    '$exists',
    '$type',
    '$in',
    '$nin',
    '$size',
    '$mod',
    '$regex',
    '$beginsWith',
    '$text',
    '$where',
    '$',
    '',
  ],
];
const aggregateOf = (aggregate: object): object => ({ selector: {}, aggregate });

type Shape = (name: string, value: unknown) => unknown;
const plain: Shape = (name, value) => ({ [name]: value });
const inList =
  (list: string, rest: object = {}): Shape =>
  (name, value) => ({ [list]: [{ ...rest, [name]: value }] });
const inside =
  (holder: string): Shape =>
  (name, value) => ({ [holder]: { [name]: value } });

/** Every body that the server takes: where it goes, what members it has, and how one of them is set. */
const bodies: [method: string, path: string, members: string[], shape: Shape][] = [
  ['POST', '{db}', docMembers, plain],
  ['PUT', '{db}/a', docMembers, plain],
  ['PUT', '{db}/a?new_edits=false', docMembers, plain],
  ['PUT', '{db}/a?batch=ok', docMembers, plain],
  ['PUT', '{db}/_local/a', docMembers, plain],
  ['PUT', '{db}/_design/a', [...docMembers, 'views', 'language', 'filters'], plain],
  ['PUT', '{db}/a', ['start', 'ids'], inside('_revisions')],
  ['POST', '{db}/_bulk_docs', ['docs', 'new_edits', 'all_or_nothing'], plain],
  ['POST', '{db}/_bulk_docs', docMembers, inList('docs')],
  ['POST', '{db}/_bulk_docs', docMembers, (name, value) => ({ docs: [{ [name]: value }], new_edits: false })],
  ['POST', '{db}/_bulk_docs', ['start', 'ids'], inList('docs', { _id: 'a' })],
  ['POST', '{db}/_bulk_get', ['docs'], plain],
  ['POST', '{db}/_bulk_get', ['id', 'rev', 'atts_since'], inList('docs', { id: 'a' })],
  ...['_all_docs', '_design_docs', '_local_docs'].flatMap((name): typeof bodies => [
    ['POST', `{db}/${name}`, listingMembers, plain],
    ['POST', `{db}/${name}/queries`, ['queries'], plain],
    ['POST', `{db}/${name}/queries`, listingMembers, inList('queries')],
  ]),
  ['POST', '{db}/_purge', ['a', ''], plain],
  ['POST', '{db}/_revs_diff', ['a', ''], plain],
  ['POST', '{db}/_missing_revs', ['a', ''], plain],
  ['PUT', '{db}/_security', ['admins', 'members', 'other'], plain],
  ['PUT', '{db}/_security', ['names', 'roles'], inside('members')],
  ['PUT', '{db}/_security', ['names', 'roles'], inside('admins')],
  ['PUT', '{db}/_revs_limit', [], plain],
  ['PUT', '{db}/_purged_infos_limit', [], plain],
  ['POST', '{db}/_compact', [], plain],
  ['POST', '{db}/_ensure_full_commit', [], plain],
  ['POST', '{db}/_sync_shards', [], plain],
  ['PUT', '/_node/_local/_config/strange/key', [], plain],
  ['POST', '/_node/_local/_config/_reload', [], plain],
  ...['_find', '_explain'].flatMap((name): typeof bodies => [
    ['POST', `{db}/${name}`, queryMembers, (member, value) => ({ selector: {}, [member]: value })],
    ['POST', `{db}/${name}`, operators, inside('selector')],
    ['POST', `{db}/${name}`, operators, (member, value) => ({ selector: { a: { [member]: value } } })],
  ]),
  ['POST', '{db}/_find', ['group_by', 'values'], (member, value) => aggregateOf({ [member]: value })],
  [
    'POST',
    '{db}/_find',
    ['$sum', '$count', '$max'],
    (member, value) => aggregateOf({ values: { a: { [member]: value } } }),
  ],
  ['POST', '{db}/_index', ['index', 'ddoc', 'name', 'type', 'w', 'partitioned'], plain],
  ['POST', '{db}/_index', ['fields', 'partial_filter_selector'], inside('index')],
  ['POST', '{db}/_index/_bulk_delete', ['docids', 'w'], plain],
  ['POST', '/_dbs_info', ['keys'], plain],
  ['POST', '/_search_analyze', ['analyzer', 'text'], plain],
  ['POST', '{db}/_design/s/_search/i', searchMembers, (member, value) => ({ q: 'a', [member]: value })],
];

function assertSane(answer: Answer, what: string): void {
  const fine = answer.status < 500 || answer.body?.error === 'not_implemented' || answer.status === 503;
  assert.ok(fine, `${what}: ${answer.status} ${answer.text}`);
  if (answer.status >= 400) assert.equal(typeof answer.body?.reason, 'string', what);
}

describe('Values of every type', () => {
  for (const [method, path, members, shape] of bodies) {
    test(`${method} ${path} with ${members.join(', ') || 'the whole body'}: never a failure of the server`, async () => {
      const db = await newDb(client);
      await client.put(`${db}/a`, {});
      await client.put(`${db}/_design/s`, { indexes: { i: { index: "function () { index('a', 1) }" } } });
      const target = path.replace('{db}', db);
      for (const value of strange) {
        assertSane(await client.send(method, target, { json: value }), JSON.stringify(value));
        for (const member of members) {
          const json = shape(member, value);
          assertSane(await client.send(method, target, { json }), JSON.stringify(json));
        }
      }
      assertOk(await client.get(db), 200);
      assertOk(await client.get(`${db}/_all_docs?include_docs=true`), 200);
    });
  }

  test('parameters of queries with every text: never a failure of the server', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    const texts = [
      '',
      'x',
      '-1',
      '1.5',
      '1e9',
      'true',
      'null',
      '{}',
      '[]',
      '["a"]',
      '"a"',
      '%00',
      '%ff',
      '1-x',
    ];
    const parameters = [
      ...listingMembers,
      ...[
        'rev',
        'open_revs',
        'revs',
        'latest',
        'meta',
        'new_edits',
        'batch',
        'atts_since',
        'q',
        'n',
        'count',
        'raw',
      ],
    ];
    for (const parameter of parameters) {
      for (const text of texts) {
        const query = `${parameter}=${text.startsWith('%') ? text : encodeURIComponent(text)}`;
        const paths = [
          `${db}/_all_docs`,
          `${db}/_local_docs`,
          `${db}/a`,
          '/_all_dbs',
          '/_dbs_info',
          '/_uuids',
          db,
        ];
        for (const path of paths) assertSane(await client.get(`${path}?${query}`), `${path}?${query}`);
        assertSane(await client.put(`${db}/a?${query}`, {}), `PUT ?${query}`);
        assertSane(await client.delete(`${db}/none?${query}`), `DELETE ?${query}`);
        assertSane(await client.post(`${db}/_bulk_get?${query}`, { docs: [] }), `_bulk_get ?${query}`);
      }
    }
  });
});
