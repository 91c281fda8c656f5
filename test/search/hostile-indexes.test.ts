/** What hostile definitions and functions could cost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { PostingLog } from '../../src/indexes/posting-log.js';
import { SearchFields } from '../../src/indexes/search-fields.js';
import { makeAnalyzer, readAnalyzer } from '../../src/search/analysis/analyzer.js';
import { keptBytes } from '../support/kept-bytes.js';

test('thousands of fields take little memory, and what they take is counted', async () => {
  const count = 5_000;
  const fields = new SearchFields(new PostingLog(), await makeAnalyzer({ name: 'standard' }), 7);
  const calls = Array.from({ length: count }, (_, i) => ({
    key: toBytes(JSON.stringify([`field${i}`, 'a word or two'])),
    value: 'null',
  }));
  const before = keptBytes();
  await fields.add('', 'doc', calls, new SystemRuntime().slice());
  const each = (keptBytes() - before) / count;
  assert.ok(each < 2_000, `${each} bytes of buffers for each field`);
  assert.ok(fields.bytes >= count * each, 'a batch ends before they take much');
});

test('thousands of fields with the same analyzer share what is made for it', async (t) => {
  const { Segmenter } = Intl;
  let made = 0;
  t.after(() => Object.assign(Intl, { Segmenter }));
  Object.assign(Intl, {
    Segmenter: class extends Segmenter {
      constructor(...given: ConstructorParameters<typeof Segmenter>) {
        super(...given);
        made++;
      }
    },
  });
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, 'thai']));
  const definition = readAnalyzer({ name: 'perfield', default: 'thai', fields })!;
  const analyzer = await makeAnalyzer(definition);
  assert.equal(made, 1);
  assert.equal(await makeAnalyzer(definition), analyzer, 'it is made once for all searches');
  assert.deepEqual([...analyzer.tokens('field7', 'สวัสดี ชาวโลก')].length > 0, true);
});

test('stop words of fields that are not asked for are not looked at', async () => {
  const words = ['the'];
  let looks = 0;
  const stopwords = new Proxy(words, {
    get: (list, name, receiver) => {
      if (name === Symbol.iterator) looks++;
      return Reflect.get(list, name, receiver) as unknown;
    },
  });
  const analyzer = await makeAnalyzer({
    name: 'perfield',
    default: { name: 'standard' },
    fields: [['title', { name: 'standard', stopWords: stopwords }]],
  });
  assert.deepEqual(
    Array.from(analyzer.tokens('default', 'whale'), ({ term }) => term),
    ['whale'],
  );
  assert.equal(looks, 0);
  assert.deepEqual(
    Array.from(analyzer.tokens('title', 'the whale'), ({ term }) => term),
    ['', 'whale'],
  );
});
