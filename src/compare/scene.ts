import type { Peer } from './peer.js';
import { userName, userPassword, users, type CompareRequest, type User } from './request.js';

/** The databases that requests find: few documents of every kind, the same on both servers. */
export type SceneName = 'plain' | 'partitioned' | 'empty' | 'none';

const prepared: readonly User[] = users.filter((user) => user !== 'server admin' && user !== 'anonymous');

export async function prepareUsers(peer: Peer): Promise<void> {
  for (const user of prepared) {
    const name = userName(user);
    const body = {
      name,
      type: 'user',
      roles: user === 'member' ? ['compare_role'] : [],
      password: userPassword,
    };
    const { status, text } = await peer.send(setup('PUT', userPath(user), body));
    if (status !== 201 && status !== 409)
      throw new Error(`The user ${name} could not be made: ${status} ${text}`);
  }
}

export async function removeUsers(peer: Peer): Promise<void> {
  for (const user of prepared) {
    const { text } = await peer.send(setup('GET', userPath(user)));
    const rev = /"_rev":"([^"]*)"/.exec(text)?.[1];
    if (rev !== undefined) await peer.send(setup('DELETE', `${userPath(user)}?rev=${rev}`));
  }
}

const userPath = (user: User): string => `/_users/org.couchdb.user:${userName(user)}`;

function setup(method: string, path: string, body?: unknown): CompareRequest {
  return { endpoint: 'set-up', method, path, ...(body === undefined ? {} : { body }) };
}

const security = {
  admins: { names: [userName('db admin')], roles: [] },
  members: { names: [userName('member')], roles: [] },
};

const plainDocs = [
  { _id: 'a', n: 1, s: 'one', tags: ['x', 'y'], nested: { p: 1 } },
  { _id: 'b', n: 2, s: 'two', tags: ['y'], nested: { p: 2 }, flag: true },
  { _id: 'c', n: 3, s: 'Two', tags: [], nested: { p: null } },
  { _id: 'd', n: 3, s: 'four', flag: false },
  { _id: 'e f', n: '5', s: 'five' },
  { _id: 'g/h', n: null, s: 'six' },
  { _id: 'ü', n: -7.5, s: 'über' },
];

const treeDocs = [
  { _id: 'gone', _rev: '2-bb', _revisions: { start: 2, ids: ['bb', 'aa'] }, _deleted: true },
  { _id: 'tree', _rev: '2-bb', _revisions: { start: 2, ids: ['bb', 'aa'] }, v: 'b' },
  { _id: 'tree', _rev: '2-cc', _revisions: { start: 2, ids: ['cc', 'aa'] }, v: 'c' },
  { _id: 'tree', _rev: '3-dd', _revisions: { start: 3, ids: ['dd', 'ab', 'aa'] }, _deleted: true },
];

const functions = {
  views: {
    n: { map: 'function (doc) { emit(doc.n, doc.s); }' },
    counted: { map: 'function (doc) { emit([doc.n, doc._id], 1); }', reduce: '_count' },
    summed: { map: 'function (doc) { if (doc.n > 0) emit(doc.s, doc.n); }', reduce: '_sum' },
    stats: { map: 'function (doc) { if (typeof doc.n === "number") emit(doc.s, doc.n); }', reduce: '_stats' },
    own: { map: 'function (doc) { emit(doc._id, 1); }', reduce: 'function (k, v, r) { return sum(v); }' },
  },
  shows: {
    text: 'function (doc, req) { return doc ? doc._id : "none " + req.id; }',
    made: 'function (doc, req) { return {code: 202, headers: {"X-Made": "yes"}, json: {id: req.id, q: req.query}}; }',
    throws: 'function (doc, req) { throw ["forbidden", "no"]; }',
    types:
      'function (doc, req) { provides("html", function () { return "<p>"; }); provides("json", function () { return {json: [1]}; }); }',
  },
  lists: {
    rows: 'function (head, req) { var row; send("rows:"); while (row = getRow()) send(row.key + ";"); return "end"; }',
    head: 'function (head, req) { start({code: 203, headers: {"X-Made": "yes"}}); return JSON.stringify(head.total_rows); }',
    late: 'function (head, req) { getRow(); start({code: 400, headers: {"X-Made": "late"}}); send("late"); }',
    types:
      'function (head, req) { provides("html", function () { send("<p>"); }); provides("json", function () { send("[]"); }); }',
    throws: 'function (head, req) { send("begun"); getRow(); throw ["forbidden", "no"]; }',
  },
  updates: {
    same: 'function (doc, req) { if (!doc) return [null, "none"]; doc.seen = true; return [doc, "seen"]; }',
    make: 'function (doc, req) { return [{_id: req.id || "made", made: true}, {json: {made: true}}]; }',
    text: 'function (doc, req) { return [null, {code: 418, body: req.body + req.method, headers: {"X-Made": "u"}}]; }',
    noid: 'function (doc, req) { return [{}, "none"]; }',
    throws: 'function (doc, req) { throw {unauthorized: "no"}; }',
  },
  filters: {
    odd: 'function (doc, req) { return doc.n % 2 === 1; }',
    query: 'function (doc, req) { return doc._id === req.query.id; }',
  },
  rewrites: [
    { from: 'doc', to: '../../a' },
    { from: 'doc/:id', to: '../../:id' },
    { from: 'view', to: '_view/n', query: { limit: '2' } },
  ],
};

const map = 'function (doc) { emit(doc.n, doc._id); }';
const partDesign = { views: { n: { map }, counted: { map, reduce: '_count' } } };

const index = (fields: string[], name: string): object => ({
  _id: `_design/${name}`,
  language: 'query',
  views: {
    [name]: {
      map: { fields: Object.fromEntries(fields.map((field) => [field, 'asc'])), partial_filter_selector: {} },
      reduce: '_count',
      options: { def: { fields } },
    },
  },
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const file = {
  _id: 'file',
  _attachments: {
    'bytes.bin': { content_type: 'application/octet-stream', data: base64('binary bytes') },
    'text.txt': { content_type: 'text/plain', data: base64('some text, some text, some text') },
  },
};

/** The requests that make each scene: few, because a scene is made for most of the requests that write. */
export const scenes: Readonly<Record<SceneName, readonly CompareRequest[]>> = {
  none: [],
  empty: [setup('PUT', '/{db}?q=1'), setup('PUT', '/{db}/_security', security)],
  plain: [
    setup('PUT', '/{db}?q=1'),
    setup('PUT', '/{db}/_security', security),
    setup('POST', '/{db}/_bulk_docs', {
      docs: [
        index(['n'], 'by-n'),
        index(['s', 'n'], 'by-sn'),
        { _id: '_design/fun', ...functions },
        { _id: '_design/other', views: { t: { map: 'function (doc) { emit(doc.tags, null); }' } } },
        { _id: '_local/note', text: 'local' },
        ...plainDocs.slice(0, 5),
        file,
        ...plainDocs.slice(5),
      ],
    }),
    setup('POST', '/{db}/_bulk_docs', { docs: treeDocs, new_edits: false }),
  ],
  partitioned: [
    setup('PUT', '/{db}?q=1&partitioned=true'),
    setup('PUT', '/{db}/_security', security),
    setup('POST', '/{db}/_bulk_docs', {
      docs: [
        { _id: '_design/parts', ...partDesign },
        { _id: '_design/whole', ...partDesign, options: { partitioned: false } },
        ...['p:a', 'p:b', 'p:c', 'q:a', 'q:b'].map((_id, n) => ({ _id, n })),
      ],
    }),
    setup('POST', '/{db}/_index', { index: { fields: ['n'] }, ddoc: 'by-n', name: 'by-n' }),
  ],
};
