import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import { HttpRevision } from '../../src/replication/http/http-revision.js';
import type {
  Change,
  ChangesPage,
  ChangesRequest,
  DocRevision,
  Missing,
  Peer,
  ReadResult,
} from '../../src/replication/peer.js';
import { formatRev, parseRev } from '../../src/revisions/rev.js';

/** A revision as it may come from anywhere. The text is JSON, written by the test. */
export function revision(
  json: string,
  files: Record<string, Buffer> = {},
  ancestors: string[] = [],
): HttpRevision {
  const open = (_id: string, _rev: unknown, { name }: { name: string }): Promise<AsyncIterable<Buffer>> =>
    Promise.resolve(
      (async function* () {
        const bytes = files[name]!;
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
      })(),
    );
  return new HttpRevision(Buffer.from(json), () => ancestors.map(parseRev), open);
}

const hash = (letter: string): string => letter.repeat(32);
const doc = (id: string, rest = ''): HttpRevision =>
  revision(`{"_id":"${id}","_rev":"1-${hash('a')}"${rest}}`);

const everything: ChangesRequest = {
  since: 0,
  continuous: false,
  selection: { kind: 'all' },
  winningRevsOnly: false,
  pageSize: 10,
};

async function pagesOf(peer: Peer, request: Partial<ChangesRequest> = {}): Promise<ChangesPage[]> {
  const pages: ChangesPage[] = [];
  for await (const page of peer.changes({ ...everything, ...request })) pages.push(page);
  return pages;
}

async function idsOf(peer: Peer, request: Partial<ChangesRequest> = {}): Promise<string[]> {
  const pages = await pagesOf(peer, request);
  return pages.flatMap(({ changes }) => changes.map(({ id }) => id)).sort();
}

const asked = (id: string, ...revs: string[]): Change => ({ id: asBytes(id), revs: revs.map(parseRev) });
const wanted = (id: string, revs: string[], ancestors: string[] = []): Missing => ({
  id: asBytes(id),
  revs: revs.map(parseRev),
  ancestors: ancestors.map(parseRev),
});

async function read(peer: Peer, ...missing: Missing[]): Promise<ReadResult[]> {
  const results: ReadResult[] = [];
  for await (const result of peer.readDocs(missing, { bulkGetAttempts: 0, bulkGetDocs: 0 }))
    results.push(...result);
  return results;
}

async function readDocs(peer: Peer, ...missing: Missing[]): Promise<DocRevision[]> {
  return (await read(peer, ...missing)).map((result) => {
    if ('unread' in result) assert.fail(JSON.stringify(result.unread));
    return result;
  });
}

async function bytesOf({ carried }: DocRevision, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const attachment = carried.find((each) => each.name === name)!;
  for await (const chunk of await attachment.open()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** What every side of a replication must do. `open` gives one on a database of that name, which may not exist. */
export function peerSuite(open: (name: string) => Peer): void {
  let databases = 0;
  const made = async (): Promise<Peer> => {
    const peer = open(`peer${++databases}`);
    await peer.create({});
    return peer;
  };

  test('a database that is not there is refused as such, and can be made', async () => {
    const peer = open('not-there');
    await assert.rejects(
      peer.open(),
      (error) => error instanceof RequestError && error.error === 'db_not_found',
    );
    await peer.create({ q: '2' });
    await peer.open();
    await peer.create({ q: '2' });
    await peer.close();
  });

  test('a revision comes back as it was written, every number as it stands', async () => {
    const peer = await made();
    const body = '"n":12345678901234567890,"f":1.0,"e":1e2,"s":"\\u00fc","o":{"b":1,"a":2}';
    const history = `"_revisions":{"start":3,"ids":["${hash('c')}","${hash('b')}","${hash('a')}"]}`;
    const written = revision(`{"_id":"x y/z","_rev":"3-${hash('c')}",${history},${body}}`);
    assert.deepEqual(await peer.writeDocs([written]), []);
    const [back] = await readDocs(peer, wanted('x y/z', [`3-${hash('c')}`]));
    const text = Buffer.from(back!.text(), 'latin1').toString();
    for (const member of ['"n":12345678901234567890', '"f":1.0', '"e":1e2', '"o":{"b":1,"a":2}'])
      assert.ok(text.includes(member), text);
    const value = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual(value['_revisions'], { start: 3, ids: [hash('c'), hash('b'), hash('a')] });
    assert.deepEqual([value['_id'], value['_rev'], value['s']], ['x y/z', `3-${hash('c')}`, 'ü']);
    const input = back!.input();
    assert.deepEqual(input.revisions ?? input.rev, { start: 3, hashes: [hash('c'), hash('b'), hash('a')] });
    await peer.close();
  });

  test('conflicts and deletions are kept, and asked for by the feed', async () => {
    const peer = await made();
    await peer.writeDocs([
      doc('a', ',"v":1'),
      revision(`{"_id":"a","_rev":"1-${hash('b')}","v":2}`),
      revision(
        `{"_id":"gone","_rev":"2-${hash('d')}","_revisions":{"start":2,"ids":["${hash('d')}","${hash('a')}"]},"_deleted":true}`,
      ),
    ]);
    const changes = (await pagesOf(peer)).flatMap((page) => page.changes);
    const revs = new Map(changes.map((each) => [each.id, each.revs.map(formatRev).sort()]));
    assert.deepEqual(revs.get(asBytes('a')), [`1-${hash('a')}`, `1-${hash('b')}`]);
    assert.deepEqual(revs.get(asBytes('gone')), [`2-${hash('d')}`]);
    const winners = (await pagesOf(peer, { winningRevsOnly: true })).flatMap((page) => page.changes);
    assert.deepEqual(winners.find(({ id }) => id === 'a')!.revs.map(formatRev), [`1-${hash('b')}`]);
    const docs = await readDocs(
      peer,
      wanted('a', [`1-${hash('a')}`, `1-${hash('b')}`]),
      wanted('gone', [`2-${hash('d')}`]),
    );
    assert.equal(docs.length, 3);
    const deleted = JSON.parse(docs.find(({ id }) => id === 'gone')!.text()) as Record<string, unknown>;
    assert.equal(deleted['_deleted'], true);
    await peer.close();
  });

  test('the feed comes in pages, and goes on behind any of them', async () => {
    const peer = await made();
    await peer.writeDocs(Array.from({ length: 95 }, (_, n) => doc(`d${String(n).padStart(3, '0')}`)));
    const pages = await pagesOf(peer, { pageSize: 20 });
    assert.ok(pages.length >= 4, String(pages.length));
    assert.ok(pages.every(({ changes }) => changes.length <= 40));
    const all = pages.flatMap(({ changes }) => changes.map(({ id }) => id));
    assert.equal(new Set(all).size, 95);
    assert.equal(pages.at(-1)!.pending, 0);
    for (const at of [0, 1, pages.length - 1]) {
      const rest = await idsOf(peer, { since: pages[at]!.lastSeq });
      const before = pages.slice(0, at + 1).flatMap(({ changes }) => changes.map(({ id }) => id));
      assert.deepEqual([...before, ...rest].sort(), [...all].sort());
    }
    assert.deepEqual(await idsOf(peer, { since: pages.at(-1)!.lastSeq }), []);
    await peer.close();
  });

  test('an empty feed has a place too', async () => {
    const peer = await made();
    const [page, ...more] = await pagesOf(peer);
    assert.deepEqual([page!.changes, more], [[], []]);
    await peer.writeDocs([doc('a')]);
    assert.deepEqual(await idsOf(peer, { since: page!.lastSeq }), ['a']);
    await peer.close();
  });

  test('the feed shows those documents that are selected', async () => {
    const peer = await made();
    await peer.writeDocs([
      doc('a', ',"v":1'),
      doc('b', ',"v":2'),
      revision(
        `{"_id":"_design/d","_rev":"1-${hash('a')}","filters":{"min":"function(doc, req) { return doc.v >= Number(req.query.v); }"}}`,
      ),
    ]);
    assert.deepEqual(await idsOf(peer, { selection: { kind: 'doc_ids', ids: ['b', 'nope'] } }), ['b']);
    assert.deepEqual(await idsOf(peer, { selection: { kind: 'doc_ids', ids: [] } }), []);
    const design = { kind: 'filter', name: '_design', params: {} } as const;
    assert.deepEqual(await idsOf(peer, { selection: design }), ['_design/d']);
    const selector = { kind: 'selector', selector: { v: { $gt: 1 } } } as const;
    assert.deepEqual(await idsOf(peer, { selection: selector }), ['b']);
    const filter = { kind: 'filter', name: 'd/min', params: { v: 2 } } as const;
    assert.deepEqual(await idsOf(peer, { selection: filter }), ['b']);
    const last = (await pagesOf(peer, { selection: filter })).at(-1)!.lastSeq;
    assert.deepEqual(await idsOf(peer, { since: last }), []);
    await peer.close();
  });

  test('a continuous feed waits for what is to come', async () => {
    const peer = await made();
    await peer.writeDocs([doc('first')]);
    const seen: string[] = [];
    const feed = peer.changes({ ...everything, continuous: true })[Symbol.asyncIterator]();
    while (!seen.includes('first'))
      seen.push(...(await feed.next()).value!.changes.map(({ id }: Change) => id));
    const next = (async () => {
      while (!seen.includes('second'))
        seen.push(...(await feed.next()).value!.changes.map(({ id }: Change) => id));
    })();
    await sleep(50);
    assert.deepEqual(seen, ['first']);
    await peer.writeDocs([doc('second')]);
    await next;
    assert.deepEqual(seen, ['first', 'second']);
    const waiting = feed.next();
    waiting.catch(() => undefined);
    await peer.close();
  });

  test('it is known which revisions are missing, and what they may descend from', async () => {
    const peer = await made();
    await peer.writeDocs([doc('a'), doc('b')]);
    const missing = await peer.revsDiff([
      asked('a', `1-${hash('a')}`),
      asked('b', `1-${hash('a')}`, `2-${hash('c')}`),
      asked('__proto__', `1-${hash('a')}`),
    ]);
    const found = new Map(missing.map((each) => [each.id, each]));
    assert.deepEqual([...found.keys()].sort(), ['__proto__', 'b']);
    assert.deepEqual(found.get(asBytes('b'))!.revs.map(formatRev), [`2-${hash('c')}`]);
    assert.deepEqual(found.get(asBytes('b'))!.ancestors.map(formatRev), [`1-${hash('a')}`]);
    await peer.close();
  });

  test('a revision that was replaced is read as what replaced it, one that is gone is told', async () => {
    const peer = await made();
    await peer.writeDocs([doc('a')]);
    const history = `"_revisions":{"start":2,"ids":["${hash('b')}","${hash('a')}"]}`;
    await peer.writeDocs([revision(`{"_id":"a","_rev":"2-${hash('b')}",${history}}`)]);
    const [newer] = await readDocs(peer, wanted('a', [`1-${hash('a')}`]));
    assert.equal(formatRev(newer!.rev), `2-${hash('b')}`);
    const results = await read(peer, wanted('a', [`1-${hash('f')}`]), wanted('none', [`1-${hash('a')}`]));
    assert.deepEqual(
      results.map((each) => ('unread' in each ? [asBytes(each.unread), each.id] : each)),
      [
        ['gone', 'a'],
        ['gone', 'none'],
      ],
    );
    await peer.close();
  });

  test('attachments come with their bytes, except where the other side has them', async () => {
    const peer = await made();
    const files = { '2.bin': Buffer.alloc(70_000, 'x'), 'a b.txt': Buffer.from('hello') };
    const entry = (name: keyof typeof files, revpos: number): string =>
      `"${name}":{"content_type":"application/octet-stream","revpos":${revpos},"length":${files[name].length},` +
      `"digest":"md5-${createHash('md5').update(files[name]).digest('base64')}","stub":true}`;
    const first = revision(
      `{"_id":"a","_rev":"1-${hash('a')}","_attachments":{${entry('a b.txt', 1)}}}`,
      files,
    );
    assert.equal(await peer.writeWithAttachments(first), undefined);
    const second = revision(
      `{"_id":"a","_rev":"2-${hash('b')}","_revisions":{"start":2,"ids":["${hash('b')}","${hash('a')}"]},` +
        `"_attachments":{${entry('a b.txt', 1)},${entry('2.bin', 2)}}}`,
      files,
      [`1-${hash('a')}`],
    );
    assert.deepEqual(
      second.carried.map(({ name }) => name),
      ['2.bin'],
    );
    assert.equal(await peer.writeWithAttachments(second), undefined);
    const [whole] = await readDocs(peer, wanted('a', [`2-${hash('b')}`]));
    assert.deepEqual(whole!.carried.map(({ name }) => name).sort(), ['2.bin', 'a b.txt']);
    assert.deepEqual(await bytesOf(whole!, '2.bin'), files['2.bin']);
    assert.deepEqual(await bytesOf(whole!, 'a b.txt'), files['a b.txt']);
    const [part] = await readDocs(peer, wanted('a', [`2-${hash('b')}`], [`1-${hash('a')}`]));
    assert.deepEqual(
      part!.carried.map(({ name }) => name),
      ['2.bin'],
    );
    assert.equal(part!.carryingAll().carried.length, 2);
    await peer.close();
  });

  test('a stub for what is not there makes all attachments come', async () => {
    const peer = await made();
    const files = { f: Buffer.from('hello') };
    const json =
      `{"_id":"a","_rev":"2-${hash('b')}","_revisions":{"start":2,"ids":["${hash('b')}","${hash('a')}"]},` +
      `"_attachments":{"f":{"content_type":"x/y","revpos":1,"length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","stub":true}}}`;
    const stubbed = revision(json, files, [`1-${hash('a')}`]);
    assert.equal(stubbed.carried.length, 0);
    assert.equal(await peer.writeWithAttachments(stubbed), undefined);
    const [back] = await readDocs(peer, wanted('a', [`2-${hash('b')}`]));
    assert.deepEqual(await bytesOf(back!, 'f'), files.f);
    await peer.close();
  });

  test('a refused document is told of, and the others are saved', async () => {
    const peer = await made();
    const large = doc('large', `,"x":"${'x'.repeat(20_000)}"`);
    const odd = doc('odd', ',"_unheard":1');
    const failures = await peer.writeDocs([doc('a'), large, doc('b'), odd, doc('c')]);
    assert.deepEqual(failures.map(({ id, error }) => `${id} ${error}`).sort(), [
      'large document_too_large',
      'odd doc_validation',
    ]);
    assert.deepEqual(await idsOf(peer), ['a', 'b', 'c']);
    await peer.close();
  });

  test('a refused document with attachments is told of', async () => {
    const peer = await made();
    const files = { f: Buffer.from('hello') };
    const entry =
      '"f":{"content_type":"x/y","revpos":1,"length":5,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","stub":true}';
    const json = `{"_id":"a","_rev":"1-${hash('a')}","x":"${'x'.repeat(20_000)}","_attachments":{${entry}}}`;
    const failure = await peer.writeWithAttachments(revision(json, files));
    assert.deepEqual([failure?.id, failure?.error], ['a', 'document_too_large']);
    assert.deepEqual(await idsOf(peer), []);
    await peer.close();
  });

  test('local documents are kept, and written over', async () => {
    const peer = await made();
    assert.equal(await peer.readLocal('x'), undefined);
    await peer.writeLocal('x', { a: 1 });
    await peer.writeLocal('x', { a: 2, history: [{ b: 'ü' }] });
    const read = (await peer.readLocal('x'))!;
    assert.deepEqual([read['a'], read['history']], [2, [{ b: 'ü' }]]);
    assert.deepEqual(await idsOf(peer), []);
    await peer.commit();
    await peer.close();
  });

  test('documents are read as values', async () => {
    const peer = await made();
    await peer.writeDocs([doc('_design/d', ',"filters":{"f":"x"}')]);
    assert.deepEqual((await peer.readDoc('_design/d'))!['filters'], { f: 'x' });
    assert.equal(await peer.readDoc('_design/none'), undefined);
    await peer.close();
  });
}
