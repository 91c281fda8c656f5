import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, HttpClient } from '../support/http-client.js';
import { Random } from '../model/random.js';

type Doc = Record<string, unknown>;

/** Asks a server to replicate; the answer must be 200. */
export async function replicate(client: HttpClient, body: Doc): Promise<Doc> {
  const { status, text, body: answer } = await client.post('/_replicate', body);
  assert.equal(status, 200, text);
  return answer as Doc;
}

/** The newest session of an answer. */
/** What the last session of a replication did: the counts in its history are those of all sessions up to then. */
export function newest(answer: Doc): Doc {
  const [last, before] = answer['history'] as [Doc, Doc | undefined];
  const own = Object.entries(last).map(([name, value]) => {
    const earlier = before?.[name];
    const isCount = typeof value === 'number' && typeof earlier === 'number';
    return [name, isCount ? value - earlier : value];
  });
  return Object.fromEntries(own) as Doc;
}

/** The address of a database with the credentials of the client. */
export const addressOf = (client: HttpClient, db: string): string => client.urlWithCredentials + db;

/** All that a database holds: each leaf of each document, with its history and the digests of its attachments. */
export async function contentsOf(client: HttpClient, db: string): Promise<Map<string, string[]>> {
  const { results } = (await client.get(`${db}/_changes?style=all_docs`)).body as {
    results: { id: string; changes: { rev: string }[] }[];
  };
  const contents = new Map<string, string[]>();
  for (let at = 0; at < results.length; at += 200) {
    const rows = results.slice(at, at + 200);
    const docs = rows.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })));
    const answer = await client.post(`${db}/_bulk_get?revs=true`, { docs });
    for (const { id, docs: found } of (answer.body as { results: { id: string; docs: { ok?: Doc }[] }[] })
      .results)
      contents.set(id, [...(contents.get(id) ?? []), ...found.map(({ ok }) => leafText(ok!))].sort());
  }
  return new Map([...contents].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What must be the same on both sides. Compressed attachments may be packed anew, and then have another digest. */
function leafText(doc: Doc): string {
  const { _attachments: attachments, ...rest } = doc;
  const entries = Object.entries((attachments ?? {}) as Record<string, Doc>).map(
    ([name, { content_type, length, revpos, digest }]) => [name, content_type, length, revpos, digest],
  );
  return JSON.stringify([rest, entries.sort()]);
}

/** Fails where two databases differ. */
export async function assertSame(
  [left, leftDb]: readonly [HttpClient, string],
  [right, rightDb]: readonly [HttpClient, string],
): Promise<void> {
  assert.deepEqual(await contentsOf(right, rightDb), await contentsOf(left, leftDb));
}

/** Random documents: edits, conflicts, deletions, attachments, odd ids and numbers. */
export async function fillAtRandom(
  client: HttpClient,
  db: string,
  count: number,
  start: number,
): Promise<void> {
  const random = new Random(start);
  const docs: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = JSON.stringify(
      random.pick(['plain', 'ü😀', 'a/b', 'x y', '_design/d', 'q?r&s', '50%', '"q"']) + n,
    );
    const length = 1 + random.below(4);
    for (let branch = 1 + (random.oneIn(5) ? random.below(3) : 0); branch > 0; branch--) {
      const hashes = Array.from(
        { length },
        (_, at) => `"${at === length - 1 && branch > 1 ? hashOf(n) : random.hex(32)}"`,
      );
      const rev = JSON.stringify(`${length}-${hashes[0]!.slice(1, -1)}`);
      const deleted = random.oneIn(6) ? ',"_deleted":true' : '';
      const file = random.oneIn(8) && deleted === '' ? `,"_attachments":${attachment(random)}` : '';
      docs.push(
        `{"_id":${id},"_rev":${rev},"_revisions":{"start":${length},"ids":[${hashes.join()}]}${deleted}${file},` +
          `"n":${n},"big":9007199254740993,"float":1.0,"text":"${'x'.repeat(random.below(300))}"}`,
      );
    }
  }
  for (let at = 0; at < docs.length; at += 100) {
    const raw = `{"new_edits":false,"docs":[${docs.slice(at, at + 100).join(',')}]}`;
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await client.send('POST', `${db}/_bulk_docs`, { raw, headers });
    assert.deepEqual([status, text.trim()], [201, '[]']);
  }
}

const hashOf = (n: number): string => createHash('md5').update(String(n)).digest('hex');

function attachment(random: Random): string {
  const bytes = Buffer.from(random.bytes(random.pick([0, 5, 3_000, 60_000])), 'latin1');
  const type = random.pick(['text/plain', 'image/png', 'application/json']);
  return `{"f.${random.below(3)}":{"content_type":"${type}","revpos":1,"data":"${bytes.toString('base64')}"}}`;
}

/** Asks again and again until the answer is as it is wanted. */
export async function until(
  ask: () => Promise<Answer>,
  wanted: (answer: Answer) => boolean,
  withinMs = 10_000,
): Promise<Answer> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    assert.ok(Date.now() < deadline, `not in time: ${answer.status} ${answer.text.slice(0, 500)}`);
    await sleep(20);
  }
}
