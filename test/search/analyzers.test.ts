import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { makeAnalyzer } from '../../src/search/analysis/analyzer.js';
import { startServer } from '../support/server.js';

const client = await startServer();

async function tokensOf(analyzer: unknown, text: string): Promise<string[]> {
  const answer = await client.post('/_search_analyze', { analyzer, text });
  assertOk(answer, 200);
  return answer.body.tokens as string[];
}

describe('POST /_search_analyze', () => {
  const cases: [analyzer: unknown, text: string, tokens: string][] = [
    [
      'standard',
      "The quick brown fox's 3.14 jump-over example.com",
      "quick|brown|fox's|3.14|jump|over|example.com",
    ],
    ['standard', 'foo_bar _ 1,000;2 a:b', 'foo_bar|1,000;2|a:b'],
    ['standard', '東京タワー です ภาษาไทย', '東|京|タワー|で|す|ภาษาไทย'],
    ['standard', `${'x'.repeat(255)} ${'y'.repeat(256)}${'z'.repeat(300)} end`, `${'x'.repeat(255)}|end`],
    ['keyword', 'Hello, The World', 'Hello, The World'],
    ['simple', "The fox's 3rd-run", 'the|fox|s|rd|run'],
    ['simple_asciifolding', 'Ærø Škoda naïve Straße', 'aero|skoda|naive|strasse'],
    ['whitespace', ' Hello,\tThe\nWorld ', 'Hello,|The|World'],
    [
      'classic',
      "john.doe@example.com U.S.A. AT&T O'Neil's XY-123 www.a.org",
      "john.doe@example.com|usa|at&t|o'neil|xy-123|www.a.org",
    ],
    [
      'email',
      'Write to john.doe@example.com or see https://a.example.org/x?y=1.',
      'write|john.doe@example.com|see|https://a.example.org/x?y=1',
    ],
    ['english', 'The running foxes of generous nations', 'run|fox|gener|nation'],
    ['french', "l'avion des chevaux", 'avion|cheval'],
    ['german', 'die Häuser und Katzen', 'haus|katz'],
    ['spanish', 'las casas', 'cas'],
    ['russian', 'книги и мы', 'книг'],
    ['turkish', 'IŞIK', 'ışık'],
    ['cjk', '東京タワー fox', '東京|京タ|タワ|ワー|fox'],
    ['thai', 'ภาษาไทย', 'ภาษา|ไทย'],
    [{ name: 'english', stopwords: ['fox'] }, 'the fox runs', 'the|run'],
    [{ name: 'perfield', default: 'english' }, 'running', 'run'],
    [{ name: 'perfield', default: 'english', fields: { default: 'keyword' } }, 'Running It', 'Running It'],
    ['standard', '', ''],
  ];
  for (const [analyzer, text, tokens] of cases) {
    test(`${JSON.stringify(analyzer)} makes ${tokens.slice(0, 60) || 'nothing'}`, async () => {
      assert.equal((await tokensOf(analyzer, text)).join('|'), tokens);
    });
  }

  test('every language of CouchDB is there', async () => {
    const names =
      'arabic armenian basque brazilian bulgarian catalan chinese cjk czech danish dutch english finnish french galician ' +
      'german greek hindi hungarian indonesian irish italian japanese latvian norwegian persian polish portuguese ' +
      'romanian russian spanish swedish thai turkish';
    for (const name of names.split(' ')) assert.notEqual((await tokensOf(name, 'Tuffet 42')).length, 0, name);
  });

  test('GET takes both in the query', async () => {
    const answer = await client.get('/_search_analyze?analyzer=english&text=running');
    assertOk(answer, 200);
    assert.deepEqual(answer.body, { tokens: ['run'] });
  });

  test('what is missing, of a wrong type or unknown is refused with 400', async () => {
    const wrong = [{}, { text: 'a' }, { analyzer: 'standard' }, { analyzer: 'klingon', text: 'a' }];
    const wrongTypes = [
      { analyzer: 1, text: 'a' },
      { analyzer: {}, text: 'a' },
      { analyzer: 'standard', text: [] },
    ];
    for (const body of [...wrong, ...wrongTypes, { analyzer: 'constructor', text: 'a' }])
      assertRefused(await client.post('/_search_analyze', body), 400, 'bad_request');
  });

  test('only server admins may ask', async () => {
    assertRefused(await client.as(null).post('/_search_analyze', {}), 401, 'unauthorized');
  });

  test('a long text of stop words does not hold up others', async () => {
    const analyzing = client.post('/_search_analyze', { analyzer: 'standard', text: 'a@'.repeat(500_000) });
    let done = false;
    void analyzing.finally(() => (done = true));
    let answered = 0;
    while (!done) {
      assertOk(await client.get('/_up'), 200);
      answered++;
    }
    assertOk(await analyzing, 200);
    assert.ok(answered >= 5, `${answered} other requests were answered meanwhile`);
  });
});

for (const path of ['/_search_analyze', '/_nouveau_analyze'])
  test(`${path} refuses a body of more than 1 MB with 413`, async () => {
    const text = 'word '.repeat(250_000);
    const { status, body } = await client.post(path, { analyzer: 'standard', text });
    assert.equal(status, 413);
    assert.equal(body.error, 'too_large');
    const answer = await client.post(path, { analyzer: 'standard', text: text.slice(0, 1_000_000) });
    assert.deepEqual(answer.body.tokens, Array(200_000).fill('word'));
  });

test('a long text without words lets others run', async () => {
  for (const name of ['standard', 'classic', 'simple', 'whitespace', 'cjk', 'thai']) {
    const analyzer = await makeAnalyzer({ name });
    const text = `é one${' '.repeat(300_000)}two`;
    const tokens = [...analyzer.tokens('default', text)];
    assert.ok(tokens.length > 30, name);
    const found = tokens.filter(({ term }) => term !== '');
    assert.deepEqual(
      found.map(({ term, position }) => [term, position]),
      [
        ['é', 0],
        ['one', 1],
        ['two', 2],
      ],
      name,
    );
  }
});
