import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { bulkBodies, makeDocuments } from '../documents.js';
import type { Sample } from '../figures/figure.js';
import { answerEach, say, settings } from './child.js';
import { changePrefix, documentPrefix, openBare } from './lmdb.js';

/** Floor 2: batches of documents parsed, hashed and stored durably, two records each, and nothing else. */
const { folder, docs } = settings<{ folder: string; docs: number }>();
const bodies = bulkBodies(makeDocuments(docs)).map((body) => body.toString());
const shards = 8;
let runs = 0;

/** Puts all documents into a store that is empty at first. */
async function run(): Promise<Sample> {
  const at = path.join(folder, `run-${++runs}`);
  const db = openBare(at);
  let seq = 0;
  const started = performance.now();
  for (const body of bodies) {
    const batch = (JSON.parse(body) as { docs: { _id: string }[] }).docs;
    const records = batch.map((doc) => recordsOf(doc, ++seq));
    await db.batch(() => {
      for (const { documentKey, document, changeKey, change } of records) {
        void db.put(documentKey, document);
        void db.put(changeKey, change);
      }
    });
  }
  const seconds = (performance.now() - started) / 1000;
  await db.close();
  fs.rmSync(at, { recursive: true });
  return { units: docs, seconds };
}

function recordsOf(doc: { _id: string }, seq: number) {
  const text = JSON.stringify(doc);
  const hash = createHash('md5').update(text).digest('latin1');
  const number = String.fromCharCode(
    0,
    seq % shards,
    0,
    0,
    0,
    (seq >> 16) & 0xff,
    (seq >> 8) & 0xff,
    seq & 0xff,
  );
  return {
    documentKey: documentPrefix + doc._id,
    document: `\x0a${number.slice(2)}\x01\0${hash}${text}`,
    changeKey: changePrefix + number,
    change: `\0\x01\0${hash}${doc._id}`,
  };
}

answerEach(run);
say('ready');
