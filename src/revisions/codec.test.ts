import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyRefMax, decodeTree, encodeTree } from './codec.js';
import { merge } from './merge.js';
import { parseRev, revPosMax } from './rev.js';
import { fromPath, singleNode, type RevTree } from './tree.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { readHash, readVarint, varintMax, writeHash, writeVarint } from './varint.js';

const rawHash = (byte: number): string => byte.toString(16).padStart(2, '0').repeat(16);

const line = fromPath({ start: 3, hashes: [rawHash(3), rawHash(2), rawHash(1)] }, { deleted: true, body: 5 });
const branched = merge(line, { start: 3, hashes: ['é', rawHash(2)] }, { deleted: false, body: 300 }).tree;
const forest = merge(branched, { start: 9, hashes: ['z', 'y'] }, { deleted: false, body: bodyRefMax }).tree;

const examples: Record<string, RevTree> = {
  'one revision': singleNode(parseRev(`1-${rawHash(10)}`), { deleted: false, body: 1 }),
  'a short hash': singleNode(parseRev('1-a'), { deleted: false, body: 1 }),
  'an empty hash': singleNode(parseRev('0-'), { deleted: false, body: 0 }),
  'the largest numbers': singleNode(
    { pos: revPosMax, hash: 'x'.repeat(1_024) },
    { deleted: true, body: bodyRefMax },
  ),
  '32 characters that are no digits': singleNode(
    { pos: 1, hash: 'ő'.repeat(32) },
    { deleted: false, body: 1 },
  ),
  '32 characters with one beyond the digits': singleNode(
    { pos: 1, hash: `${'a'.repeat(31)}g` },
    { deleted: false, body: 1 },
  ),
  'several without digits': fromPath(
    { start: 2, hashes: ['g'.repeat(32), rawHash(1)] },
    { deleted: false, body: 1 },
  ),
  'digits by their low bytes only': fromPath(
    { start: 2, hashes: ['\u0161'.repeat(32), rawHash(1)] },
    { deleted: false, body: 1 },
  ),
  'a line': line,
  'a branch': branched,
  'several roots': forest,
};

void test('a tree comes back as it was', () => {
  for (const [name, tree] of Object.entries(examples)) {
    const bytes = encodeTree(tree);
    assert.deepEqual(decodeTree(bytes), tree, name);
  }
});

void test('the bytes are those of the format page', () => {
  assert.equal(encodeTree(examples['one revision']!).toString('hex'), `13010102${rawHash(10)}`);
  assert.equal(encodeTree(examples['a short hash']!).toString('hex'), '1101010202' + '61');
  assert.equal(encodeTree(line).toString('hex'), `13030100000b${rawHash(1)}${rawHash(2)}${rawHash(3)}`);
  const metas = '000100' + '0100' + '010b' + '02d804';
  const hashes = `00${rawHash(1)}00${rawHash(2)}00${rawHash(3)}03c3a9`;
  assert.equal(encodeTree(branched).toString('hex'), `1004${metas}${hashes}`);
});

void test('a tree cut short or grown is noticed', () => {
  for (const tree of Object.values(examples)) {
    const bytes = encodeTree(tree);
    for (let end = 0; end < bytes.length; end++)
      assert.throws(() => decodeTree(bytes, 0, end), CorruptRecord);
    assert.throws(() => decodeTree(Buffer.concat([bytes, Buffer.of(0)])), CorruptRecord);
  }
});

void test('a damaged byte never does worse than a refusal or another tree', () => {
  for (const tree of [line, branched, forest]) {
    const bytes = encodeTree(tree);
    for (let at = 0; at < bytes.length; at++) {
      for (let value = 0; value < 256; value++) {
        const damaged = Buffer.from(bytes);
        damaged[at] = value;
        try {
          for (const [index, node] of decodeTree(damaged).entries()) assert.ok(node.parent < index);
        } catch (error) {
          assert.ok(error instanceof CorruptRecord);
        }
      }
    }
  }
});

void test('another version is refused', () => {
  const bytes = encodeTree(line);
  bytes[0] = 0x23;
  assert.throws(() => decodeTree(bytes), CorruptRecord);
});

void test('a body reference that would not come back is refused', () => {
  assert.throws(
    () => encodeTree(singleNode(parseRev('1-a'), { deleted: false, body: bodyRefMax * 2 })),
    RangeError,
  );
});

void test('every number up to 2^53 comes back', () => {
  const cursor = { bytes: Buffer.alloc(16), at: 0 };
  const values = [0, varintMax, varintMax - 1];
  for (let bits = 1; bits < 53; bits++) values.push(2 ** bits - 1, 2 ** bits, 2 ** bits + 1);
  for (const value of values) {
    cursor.at = 0;
    writeVarint(cursor, value);
    const reader = { bytes: cursor.bytes, at: 0, end: cursor.at };
    assert.equal(readVarint(reader), value);
    assert.equal(reader.at, cursor.at);
  }
  assert.throws(() => readVarint({ bytes: Buffer.alloc(9, 0xff), at: 0, end: 9 }), CorruptRecord);
});

void test('a hash comes back on its own', () => {
  for (const hash of ['', 'a', 'é€😀', rawHash(200), 'x'.repeat(1_024)]) {
    const cursor = { bytes: Buffer.alloc(2_000), at: 3 };
    writeHash(cursor, hash);
    assert.equal(readHash({ bytes: cursor.bytes, at: 3, end: cursor.at }), hash);
  }
});
