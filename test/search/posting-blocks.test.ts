import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CorruptRecord } from '../../src/base/corrupt-record.js';
import { makeAnalyzer } from '../../src/search/analysis/analyzer.js';
import { readCharacters, wordEnd, wordStart } from '../../src/search/analysis/word-scan.js';
import { editBlock } from '../../src/search/edit-block.js';
import {
  blockCount,
  BlockWriter,
  joinBlocks,
  Postings,
  rawPostings,
  type Block,
} from '../../src/search/posting-block.js';
import { Random, seed } from '../model/random.js';
import { loggedBlocks, type Posting } from './logged-blocks.js';

function randomPostings(random: Random, count: number): Posting[] {
  let doc = random.below(1_000);
  return Array.from({ length: count }, () => {
    doc += 1 + random.below(random.below(20) === 0 ? 1_000_000_000 / count : 5);
    let position = 0;
    const times = random.below(5) === 0 ? random.below(30) : 1;
    const positions = Array.from({ length: times }, () => (position += 1 + random.below(300)));
    const boost = times > 0 && random.below(6) === 0 ? 2_500 : 1_000;
    return { doc, length: random.below(400), boost, positions };
  });
}

function read(blocks: readonly Block[], from = 0, to = Infinity): Posting[] {
  const all = new Postings(true);
  for (const block of blocks) all.add(block, from, to);
  return all.docs.map((doc, i) => ({
    doc,
    length: all.lengths[i]!,
    boost: all.boosts[i]! * 1_000,
    positions: all.positions(i),
  }));
}

test(`postings are read from blocks as they were written (seed ${seed})`, () => {
  const random = new Random(seed);
  for (const count of [1, 2, 127, 128, 129, 1_000]) {
    const postings = randomPostings(random, count);
    const blocks = loggedBlocks(postings);
    assert.deepEqual(read(blocks), postings);
    assert.equal(
      blocks.reduce((sum, { value }) => sum + blockCount(value), 0),
      count,
    );
    const from = postings[Math.floor(count / 3)]!.doc;
    const to = postings[Math.floor((2 * count) / 3)]!.doc;
    assert.deepEqual(
      read(blocks, from, to),
      postings.filter(({ doc }) => doc >= from && doc < to),
    );
    const writer = new BlockWriter(16);
    const again = blocks.flatMap((block) => rawPostings(block)).map((posting) => writer.take(posting));
    assert.deepEqual(read([...again, writer.finish()].filter((block) => block !== undefined)), postings);
  }
});

test(`one posting of a block is replaced, left out and put in (seed ${seed})`, () => {
  const random = new Random(seed);
  let edits = 0;
  for (let i = 0; i < 300; i++) {
    const postings = randomPostings(random, 1 + random.below(40));
    const [block] = loggedBlocks(postings);
    const held = read([block!]);
    const chosen = held[random.below(held.length)]!;
    const doc = chosen.doc + random.below(2) * random.below(5);
    const [posting] = randomPostings(random, 1);
    const added = random.below(2) === 0 ? undefined : { ...posting!, doc };
    const raw = added && rawPostings(loggedBlocks([added])[0]!)[0];
    const value = editBlock(block!, doc, raw);
    if (value === undefined) {
      assert.ok(
        (doc === block!.first && raw === undefined) || held.length >= 128 || block!.value.length > 700,
      );
      continue;
    }
    edits++;
    const rest = held.filter((each) => each.doc !== doc);
    const wanted = [...rest, ...(added === undefined ? [] : [added])].sort((a, b) => a.doc - b.doc);
    const edited = { first: block!.first, value };
    assert.deepEqual(read([edited]), wanted);
    // Count and span are right: the next block is joined behind the last document.
    const next = loggedBlocks([{ ...posting!, doc: wanted.at(-1)!.doc + 7 }])[0]!;
    const joined = joinBlocks(edited, next);
    if (joined !== undefined)
      assert.deepEqual(
        read([{ first: edited.first, value: joined }]).map((each) => each.doc),
        [...wanted.map((each) => each.doc), next.first],
      );
  }
  assert.ok(edits > 100);
});

test(`neighbouring blocks are joined as long as they are small (seed ${seed})`, () => {
  const random = new Random(seed);
  for (let i = 0; i < 50; i++) {
    const postings = randomPostings(random, 2 + random.below(200));
    const cut = 1 + random.below(postings.length - 1);
    const [a, b] = [loggedBlocks(postings.slice(0, cut)), loggedBlocks(postings.slice(cut))];
    if (a.length > 1 || b.length > 1) continue;
    const value = joinBlocks(a[0]!, b[0]!);
    if (value === undefined)
      assert.ok(postings.length > 128 || a[0]!.value.length + b[0]!.value.length > 1_000);
    else assert.deepEqual(read([{ first: a[0]!.first, value }]), postings);
  }
});

test('a block that is cut short is known as damaged', () => {
  const [block] = loggedBlocks(randomPostings(new Random(3), 20)) as [Block];
  for (let length = 0; length < block.value.length; length++)
    assert.throws(() => read([{ first: block.first, value: block.value.slice(0, length) }]), CorruptRecord);
});

test(`words are found as the standard tokenizer finds them (seed ${seed})`, async () => {
  const random = new Random(seed);
  const { tokens } = await makeAnalyzer({ name: 'standard', stopWords: [] });
  const characters = [..."abzAZ019__.:;,'’‘ -–“”…·äéßøñŠžªº²½×÷\u00a0\u2024\u2027\n"];
  for (let i = 0; i < 3_000; i++) {
    const length = random.below(i % 50 === 0 ? 900 : 40);
    const some = i % 50 === 0 ? characters.slice(0, 8) : characters;
    const text = Array.from({ length }, () => some[random.below(some.length)]!).join('');
    const read = new Uint16Array(length);
    assert.ok(readCharacters(text, read), text);
    const scanned: string[] = [];
    let tooLongUntil = -1;
    for (let start = wordStart(read, 0, length); start < length;) {
      const end = wordEnd(read, start, length);
      if (start === tooLongUntil || end - start > 255) tooLongUntil = end;
      else if (/[^_]/.test(text.slice(start, end))) scanned.push(text.slice(start, end).toLowerCase());
      start = wordStart(read, end, length);
    }
    const expected = Array.from(tokens('default', text), ({ term }) => term).filter((term) => term !== '');
    assert.deepEqual(scanned, expected, text);
  }
  for (const text of ['漢字', 'ไทย', 'a\u0301', 'soft\u00adhyphen', '\u{1F600}', 'кот'])
    assert.ok(!readCharacters(text, new Uint16Array(text.length)), text);
});

test(`a later range of a block begins where the one before did (seed ${seed})`, () => {
  const random = new Random(seed);
  const postings = randomPostings(random, 100);
  for (const block of loggedBlocks(postings)) {
    const docs = rawPostings(block).map(({ doc }) => doc);
    const all = new Postings();
    let place;
    for (let from = 0; from < docs.at(-1)! + 1;) {
      const to = random.pick(docs.filter((doc) => doc >= from)) + 1;
      place = all.add(block, from, to, place);
      const left = docs.filter((doc) => doc >= from).length;
      assert.equal(place.left, left, 'what stands before the range is not read again');
      from = to;
    }
    assert.deepEqual(all.docs, docs);
  }
});
