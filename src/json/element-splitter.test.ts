import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ElementSplitter } from './element-splitter.js';

const tooLarge = (): Error => new Error('too large');

/** The elements of `docs` and the text without them, read in chunks of the given sizes. */
function split(
  text: string,
  sizes: () => number,
  bytesMax = 1_000,
): { elements: unknown[]; skeleton: string } {
  const elements: unknown[] = [];
  const splitter = new ElementSplitter('docs', bytesMax, tooLarge, (bytes) =>
    elements.push(JSON.parse(bytes.toString())),
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    const size = sizes();
    splitter.write(bytes.subarray(at, at + size));
    at += size;
  }
  return { elements, skeleton: splitter.end().toString() };
}

const docs = [
  { a: '],[{"\\' },
  [1, [2, { docs: [3] }]],
  'text, "quoted"',
  4.5,
  null,
  { docs: [{ docs: [] }] },
  {},
];

test('elements come out whole, however the text is cut', () => {
  const text = JSON.stringify({ new_edits: false, docs, 'do"cs': ['other'], last: { docs: [1] } });
  for (const size of [1, 2, 3, 7, 16, 1_000]) {
    const { elements, skeleton } = split(text, () => size);
    assert.deepEqual(elements, docs);
    assert.deepEqual(JSON.parse(skeleton), {
      new_edits: false,
      docs: docs.map(() => 0),
      'do"cs': ['other'],
      last: { docs: [1] },
    });
  }
});

test('white space and an empty list are as they should be', () => {
  assert.deepEqual(split(' { "docs" : [ 1 , 2 ] } ', () => 2).elements, [1, 2]);
  assert.deepEqual(split('{"docs":[ \n ]}', () => 3).elements, []);
});

test('a name may be written with escapes', () => {
  assert.deepEqual(split('{"d\\u006fcs":[1]}', () => 4).elements, [1]);
});

test('what is missing between commas is missing in the skeleton too', () => {
  assert.equal(split('{"docs":[1,,2]}', () => 5).skeleton, '{"docs":[0,,0]}');
});

test('text that ends too soon, or has the list twice, is refused', () => {
  for (const text of ['{"docs":[1', '{"docs":[1]', '{"docs":["a', '{"docs":[1],"docs":[2]}']) {
    assert.throws(() => split(text, () => 3), /bad_request/, text);
  }
});

test('an element may not be larger than the limit, wherever it is cut', () => {
  const text = JSON.stringify({ docs: ['x'.repeat(50)] });
  for (const size of [1, 20, 1_000]) assert.throws(() => split(text, () => size, 40), /too large/);
});

test('lines that are taken are elements like the others, in their order', () => {
  const text =
    '{"docs": [{"a":1},\n{"b":"],[\\n"},\n{"c":1},{"d":2},\n{"e":[{}]},\n {"f":1}\n,\n3,{"g":1},\n{"h":1}]}\n';
  const expected = JSON.parse(text) as { docs: unknown[] };
  for (const size of [1, 2, 3, 7, 16, 40, 1_000]) {
    const elements: unknown[] = [];
    const taken: string[] = [];
    const onElement = (bytes: Buffer): void => void elements.push(JSON.parse(bytes.toString()));
    const takeLine = (line: Buffer): boolean => {
      if (line.includes('},{')) return false;
      taken.push(line.toString());
      onElement(line);
      return true;
    };
    const splitter = new ElementSplitter('docs', 1_000, tooLarge, onElement, takeLine);
    for (let at = 0; at < text.length; at += size) splitter.write(Buffer.from(text.slice(at, at + size)));
    assert.deepEqual(elements, expected.docs);
    assert.deepEqual(JSON.parse(splitter.end().toString()), { docs: expected.docs.map(() => 0) });
    if (size === 1_000)
      assert.deepEqual(taken, ['{"a":1}', '{"b":"],[\\n"}', '{"d":2}', '{"e":[{}]}', '{"g":1}']);
  }
});
