import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanDocument } from '../json/scan.js';
import type { RevPath } from '../revisions/tree.js';
import { readDocument } from './read-document.js';

const limits = { document_bytes_max: Infinity, id_bytes_max: Infinity };

function revisionsOf(text: string): RevPath | undefined {
  return readDocument(scanDocument(Buffer.from(`{"_id":"a","_revisions":${text}}`)), limits).revisions;
}

const hash = (n: number): string => n.toString(16).padStart(32, '0');

test('a history is the same however it is written', () => {
  for (const count of [1, 2, 7, 3_000]) {
    const ids = Array.from({ length: count }, (_, n) => hash(n));
    const usual = revisionsOf(JSON.stringify({ start: count + 1, ids }));
    assert.deepEqual(usual, { start: count + 1, hashes: ids });
    assert.deepEqual(revisionsOf(JSON.stringify({ ids, start: count + 1 })), usual);
    assert.deepEqual(revisionsOf(JSON.stringify({ start: count + 1, ids }, undefined, 1)), usual);
    const upper = ids.map((id) => id.toUpperCase());
    assert.deepEqual(revisionsOf(JSON.stringify({ start: count + 1, ids: upper })), usual);
  }
});

test('a history that is longer than its generation is cut, an empty one is none', () => {
  for (const start of [0, 1, 2]) {
    const hashes = [hash(1), hash(2), hash(3)].slice(0, Math.max(1, start));
    assert.deepEqual(revisionsOf(JSON.stringify({ start, ids: [hash(1), hash(2), hash(3)] })), {
      start,
      hashes,
    });
  }
  assert.equal(revisionsOf('{"start":1,"ids":[]}'), undefined);
  const named = Buffer.from('{"_id":"a","_rev":"1-a","_revisions":{"start":1,"ids":[]}}');
  assert.equal(readDocument(scanDocument(named), limits).rev, undefined);
});
