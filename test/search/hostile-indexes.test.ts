/** What hostile definitions and functions could cost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, noBytes, toBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { PostingLog } from '../../src/indexes/posting-log.js';
import { SearchFields } from '../../src/indexes/search-fields.js';
import { readBookmark, writeBookmark } from '../../src/fulltext/bookmark.js';
import { makeAnalyzer, readAnalyzer } from '../../src/search/analysis/analyzer.js';
import { segmenterTokens } from '../../src/search/analysis/tokenizers.js';
import { Random, seed } from '../model/random.js';
import { keptBytes } from '../support/kept-bytes.js';

test('thousands of fields take little memory, and what they take is counted', async () => {
  const count = 5_000;
  const fields = new SearchFields(new PostingLog(), await makeAnalyzer({ name: 'standard' }), 7);
  const calls = Array.from({ length: count }, (_, i) => ({
    key: toBytes(JSON.stringify([`field${i}`, 'a word or two'])),
    value: asBytes('null'),
  }));
  const before = keptBytes();
  await fields.add(noBytes, asBytes('doc'), calls, new SystemRuntime().slice());
  const each = (keptBytes() - before) / count;
  assert.ok(each < 2_000, `${each} bytes of buffers for each field`);
  assert.ok(fields.fieldBytes >= count * each, 'a batch ends before they take much');
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

test('long texts without spaces are segmented piece by piece, with the same words', (t) => {
  let longest = 0;
  const { segment } = Intl.Segmenter.prototype;
  t.after(() => Object.assign(Intl.Segmenter.prototype, { segment }));
  Object.assign(Intl.Segmenter.prototype, {
    segment(this: Intl.Segmenter, text: string) {
      longest = Math.max(longest, text.length);
      return segment.call(this, text);
    },
  });
  for (const [locale, sentence] of [
    ['th', 'สวัสดีชาวโลก '],
    ['zh', '我爱北京天安门。'],
    ['ja', '東京都に住んでいます、'],
  ] as const) {
    const tokens = segmenterTokens(locale);
    const termsOf = (text: string): string[] => Array.from(tokens(text), ({ term }) => term);
    const text = sentence.repeat(1_000);
    const expected = Array.from({ length: 1_000 }, () => termsOf(sentence)).flat();
    assert.deepEqual(termsOf(text), expected);
    for (const [i, { term, start, end, position }] of [...tokens(text)].entries()) {
      assert.equal(text.slice(start, end), term);
      assert.equal(position, i);
    }
    const emoji = [...tokens('😀'.repeat(5_000) + sentence)];
    assert.deepEqual(
      emoji.map(({ term }) => term).filter((term) => term !== ''),
      termsOf(sentence),
    );
    assert.ok(emoji.length > termsOf(sentence).length + 5, 'others can run where there are no words');
  }
  assert.ok(longest <= 1_000, `${longest} characters at once`);
});

test(`long texts without spaces have the words of the whole text (seed ${seed})`, () => {
  const random = new Random(seed);
  for (const [locale, sentence] of [
    ['zh', '我们今天去北京大学参加人工智能研讨会讨论机器学习的未来发展方向以及中华人民共和国的历史文化3.14'],
    ['th', 'ประเทศไทยมีกรุงเทพมหานครเป็นเมืองหลวงและมีนักท่องเที่ยวจำนวนมากเดินทางมาเยี่ยมชมวัดวาอาราม'],
    ['ja', '東京都は日本の首都であり世界最大の都市の一つです吾輩は猫である名前はまだ無い'],
  ] as const) {
    const whole = new Intl.Segmenter(locale, { granularity: 'word' });
    const words = Array.from(whole.segment(sentence), ({ segment }) => segment);
    const text = Array.from({ length: 1_500 }, () => words[random.below(words.length)]!).join('');
    const expected = Array.from(whole.segment(text)).filter(({ isWordLike }) => isWordLike);
    assert.deepEqual(
      Array.from(segmenterTokens(locale)(text), ({ term, start }) => [start, term]),
      expected.map(({ segment, index }) => [index, segment]),
    );
  }
});

test('a word that is longer than a piece of a text is left out as a whole', () => {
  const termsOf = (text: string): string[] =>
    Array.from(segmenterTokens('zh')(text), ({ term }) => term).filter((term) => term !== '');
  for (const length of [900, 1_000, 1_001, 1_100, 1_999, 2_000, 2_300])
    assert.deepEqual(termsOf(`北京 ${'a'.repeat(length)} 大学`), ['北京', '大学'], String(length));
  assert.deepEqual(termsOf(`${'a'.repeat(1_000)} b`), ['b']);
  assert.deepEqual(termsOf(`${'😀'.repeat(700)}北京`), ['北京']);
});

test(`words next to long ones are those of the whole text (seed ${seed})`, () => {
  const random = new Random(seed);
  const words =
    'ประเทศ ไทย กรุงเทพมหานคร สวัสดี กก ๆ ฯ 北京 大学 中华人民共和国 カタカナ ひらがな 東京 한국어 é 3.14,15 😀 👨‍👩‍👧 \ud800 。 a'.split(
      ' ',
    );
  const lengths = [1, 20, 200, 255, 256, 798, 799, 800, 801, 998, 999, 1_000, 1_001, 1_300];
  const part = (): string => {
    const kind = random.below(8);
    if (kind === 0) return ' ';
    return kind === 1
      ? random.pick(['a', '1', 'ก']).repeat(random.pick(lengths))
      : random.pick(words).repeat(1 + random.below(3));
  };
  for (let round = 0; round < 150; round++)
    for (const locale of ['th', 'zh', 'ja']) {
      let text = 'a'.repeat(random.pick(lengths));
      while (text.length < 2_500) text += part();
      const whole = new Intl.Segmenter(locale, { granularity: 'word' });
      const expected = Array.from(whole.segment(text)).filter(
        ({ isWordLike, segment }) => isWordLike && segment.length <= 255,
      );
      const found = Array.from(segmenterTokens(locale)(text)).filter(({ term }) => term !== '');
      assert.deepEqual(
        found.map(({ term, start }) => [start, term]),
        expected.map(({ segment, index }) => [index, segment]),
        JSON.stringify(text),
      );
    }
});

test('a bookmark that is longer than any is refused before it is read', () => {
  const order = [...Array.from({ length: 100 }, () => 'é'.repeat(128)), 7];
  assert.deepEqual(readBookmark(writeBookmark(order), Array(100).fill({})), order);
  assert.throws(() => readBookmark(writeBookmark(['a'.repeat(200_000), 1]), [{}]), /Invalid bookmark/);
});
