import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { StartupError } from '../src/base/startup-error.js';
import { Config } from '../src/config/config.js';
import { expectation, formatValue, parseValue } from '../src/config/parse-value.js';
import type { Option } from '../src/config/options.js';
import { openSections, schema } from '../src/config/schema.js';
import { temporaryFolder } from './support/server.js';

const docFile = path.resolve('docs/configuration.md');

function folder(files: Record<string, string> = {}): string {
  const dir = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  return dir;
}

test('docs/configuration.md lists every option of the schema, with its values, default and meaning, and no other', () => {
  const expected = Object.entries(schema as Record<string, Option>).map(([name, option]) => {
    const values =
      option.type === 'choice' ? option.choices.map((c) => `\`${c}\``).join(', ') : expectation(option);
    const text = formatValue(option.default);
    return `${name} | ${values} | ${text === '' ? 'empty' : `\`${text}\``} | ${option.meaning}`;
  });
  const listed: string[] = [];
  let section = '';
  for (const line of fs.readFileSync(docFile, 'utf8').split('\n')) {
    section = /^### \[(.*)\]$/.exec(line)?.[1] ?? section;
    const row = /^\| `([^`]+)` \| (.*) \|$/.exec(line);
    if (section !== '' && row) listed.push(`${section}/${row[1]} | ${row[2]}`);
  }
  assert.deepEqual(listed, expected);
  const doc = fs.readFileSync(docFile, 'utf8');
  for (const [name, meaning] of Object.entries(openSections)) {
    assert.ok(doc.includes(`### [${name}]`) && doc.includes(meaning));
  }
});

test('every default is a value that its option can have', () => {
  for (const [name, option] of Object.entries(schema as Record<string, Option>)) {
    assert.equal(parseValue(option, formatValue(option.default)), option.default, name);
  }
});

test('typed readers give the default, then the value that was set', () => {
  const config = new Config();
  assert.equal(config.number('couchdb/max_document_size'), 8_000_000);
  assert.equal(config.number('chttpd/max_uri_length'), Infinity);
  assert.equal(config.boolean('chttpd/require_valid_user'), false);
  assert.equal(config.choice('uuids/algorithm'), 'sequential');
  assert.equal(config.text('chttpd/bind_address'), '127.0.0.1');
  assert.equal(config.set('couchdb', 'max_document_size', ' 50 '), '8000000');
  assert.equal(config.number('couchdb/max_document_size'), 50);
  assert.equal(config.delete('couchdb', 'max_document_size'), '50');
  assert.equal(config.number('couchdb/max_document_size'), 8_000_000);
});

test('any section and key may be set, read and deleted; values are trimmed', () => {
  const config = new Config();
  assert.equal(config.get('mine', 'k'), undefined);
  assert.deepEqual(config.section('mine'), {});
  assert.equal(config.set('mine', 'k', '  one '), '');
  assert.equal(config.set('mine', 'k', 'in  side\tx'), 'one');
  assert.deepEqual(config.section('mine'), { k: 'in  side\tx' });
  assert.deepEqual(config.all()['mine'], { k: 'in  side\tx' });
  assert.equal(config.all()['cluster']?.['q'], '8');
  assert.equal(config.delete('mine', 'k'), 'in  side\tx');
  assert.throws(() => config.delete('mine', 'k'), { error: 'not_found', reason: 'unknown_config_value' });
  assert.equal('mine' in config.all(), false);
});

test('a value that an option of the schema cannot have is refused, and in a file it is reported and not used', () => {
  const config = new Config({
    dataDir: folder({ 'local.ini': '[cluster]\nq = many\n[uuids]\nalgorithm=magic\n' }),
  });
  assert.equal(config.number('cluster/q'), 8);
  assert.equal(config.choice('uuids/algorithm'), 'sequential');
  assert.deepEqual(config.problems(), [
    '[cluster] q must be a whole number from 1 to 256; 8 is used.',
    '[uuids] algorithm must be one of random, sequential, utc_random, utc_id, uuid_v7, uuid_v4; sequential is used.',
  ]);
  for (const value of ['0', '-1', '1.5', '1e2', '0x10', 'NaN', 'infinity', '99999999999999999999']) {
    assert.throws(() => config.set('cluster', 'q', value), {
      error: 'bad_request',
      reason: /^Invalid configuration value: \[cluster\] q/,
    });
  }
  config.set('cluster', 'q', '');
  assert.equal(config.number('cluster/q'), 8);
});

test('sources win in their order: default.ini, default.d, file, local.ini, local.d, API, command line', () => {
  const dataDir = folder({
    'default.ini': '[x]\na=8\nf=8\ng=8\n',
    'default.d/10-a.ini': '[x]\na=9\ng=9\n',
    'given.ini': '[x]\na=1\nb=1\nc=1\nd=1\ne=1\n',
    'local.ini': '[x]\nb=2\nc=2\nd=2\ne=2\n',
    'local.d/10-a.ini': '[x]\nc=0\n',
    'local.d/20-b.ini': '[x]\nc=3\nd=3\ne=3\n',
    'local.d/note.txt': '[x]\na=9\n',
    'config-api.ini': '[x]\nd=4\ne=4\n',
  });
  const config = new Config({
    dataDir,
    configFile: path.join(dataDir, 'given.ini'),
    overrides: { x: { e: '5' } },
  });
  assert.deepEqual(config.section('x'), { a: '1', f: '8', g: '9', b: '2', c: '3', d: '4', e: '5' });
  assert.equal(config.set('x', 'e', '6'), '5');
  assert.equal(config.get('x', 'e'), '6');
  config.reload();
  assert.equal(config.get('x', 'e'), '6');
});

test('changes outlive the process, in a file that only its owner can read', () => {
  const dataDir = folder();
  new Config({ dataDir }).set('mine', 'k', 'kept');
  assert.equal(new Config({ dataDir }).get('mine', 'k'), 'kept');
  assert.equal(fs.statSync(path.join(dataDir, 'config-api.ini')).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(dataDir), ['config-api.ini']);
});

test('a deletion outlives the process, also of what a hand-written file says', () => {
  const local = '[admins]\nann = -hashed-a,b\n';
  const dataDir = folder({ 'local.ini': local });
  assert.equal(new Config({ dataDir }).delete('admins', 'ann'), '-hashed-a,b');
  const next = new Config({ dataDir });
  assert.deepEqual(next.section('admins'), {});
  assert.equal(fs.readFileSync(path.join(dataDir, 'local.ini'), 'utf8'), local);
  assert.equal(next.set('admins', 'ann', 'new'), '');
  assert.deepEqual(new Config({ dataDir }).section('admins'), { ann: 'new' });
});

test('a change that is not to be kept is forgotten by a reload', () => {
  const config = new Config({ dataDir: folder() });
  config.set('t', 'k1', 'disk');
  assert.equal(config.set('t', 'k1', 'memory', { persist: false }), 'disk');
  config.set('t', 'k2', 'memory', { persist: false });
  assert.deepEqual(config.section('t'), { k1: 'memory', k2: 'memory' });
  config.reload();
  assert.deepEqual(config.section('t'), { k1: 'disk' });
});

test('a server in memory keeps its changes over a reload', () => {
  const config = new Config();
  config.set('t', 'k', 'v');
  config.reload();
  assert.equal(config.get('t', 'k'), 'v');
});

test('a change that cannot be written is not made', () => {
  const dataDir = path.join(folder(), 'data');
  const config = new Config({ dataDir });
  fs.writeFileSync(dataDir, 'a file where the folder should be');
  assert.throws(() => config.set('t', 'k', 'v'));
  assert.equal(config.get('t', 'k'), undefined);
});

test('listeners hear of each change once, and of nothing after they left', () => {
  const config = new Config({ dataDir: folder() });
  const heard: string[] = [];
  const leave = config.onChange('s', 'k', (value) => heard.push(`key ${value}`));
  config.onChange('s', undefined, (value, section, key) => heard.push(`section ${section} ${key} ${value}`));
  config.set('s', 'k', '1');
  config.set('s', 'k', '1');
  config.set('s', 'k', '2', { persist: false });
  config.set('other', 'k', '9');
  config.reload();
  leave();
  config.delete('s', 'k');
  assert.deepEqual(heard, [
    'section s k 1',
    'key 1',
    'section s k 2',
    'key 2',
    'section s k 1',
    'key 1',
    'section s k undefined',
  ]);
});

test('options are found under the names that older versions of CouchDB used, with a hint', () => {
  const config = new Config({
    overrides: {
      httpd: { require_valid_user: 'true', enable_cors: 'true', port: '5986', bind_address: '0.0.0.0' },
      couch_httpd_auth: { iterations: '77' },
      csp: { enable: 'false' },
    },
  });
  assert.equal(config.boolean('chttpd/require_valid_user'), true);
  assert.equal(config.boolean('chttpd/enable_cors'), true);
  assert.equal(config.number('chttpd_auth/iterations'), 77);
  assert.equal(config.boolean('csp/utils_enable'), false);
  assert.equal(config.number('chttpd/port'), 5984, 'that is the port of a single node');
  assert.equal(config.text('chttpd/bind_address'), '127.0.0.1');
  assert.deepEqual(config.hints(), [
    '[httpd] require_valid_user is called [chttpd] require_valid_user now; it is heeded.',
    '[httpd] enable_cors is called [chttpd] enable_cors now; it is heeded.',
    '[couch_httpd_auth] iterations is called [chttpd_auth] iterations now; it is heeded.',
    '[csp] enable is called [csp] utils_enable now; it is heeded.',
  ]);
  config.set('chttpd_auth', 'iterations', '78');
  assert.equal(config.number('chttpd_auth/iterations'), 78);
  assert.match(config.hints()[2]!, /not heeded/);
});

test('a change under an older name is told to those who listen for the new one, and taken back under either', () => {
  const config = new Config();
  const heard: string[] = [];
  config.onChange('chttpd', 'enable_cors', (value) => heard.push(String(value)));
  config.set('httpd', 'enable_cors', 'true');
  assert.equal(config.boolean('chttpd/enable_cors'), true);
  assert.equal(config.delete('chttpd', 'enable_cors'), 'true');
  assert.equal(config.boolean('chttpd/enable_cors'), false);
  assert.equal(config.get('httpd', 'enable_cors'), undefined);
  assert.deepEqual(heard, ['true', 'false']);
  assert.deepEqual(config.hints(), []);
});

test('a reload that fails changes nothing', () => {
  const dataDir = folder({ 'local.ini': '[x]\na=1\n' });
  const config = new Config({ dataDir });
  config.set('x', 'b', 'memory', { persist: false });
  fs.rmSync(path.join(dataDir, 'local.ini'));
  fs.mkdirSync(path.join(dataDir, 'local.ini'));
  assert.throws(() => config.reload(), StartupError);
  assert.deepEqual(config.section('x'), { a: '1', b: 'memory' });
});

test('text options have a form, which the empty text is free of', () => {
  const config = new Config();
  const wrong: [section: string, key: string, value: string][] = [
    ['cors', 'origins', 'example.com'],
    ['cors', 'methods', 'GET;PUT'],
    ['cors', 'headers', 'a b'],
    ['chttpd', 'x_forwarded_host', 'two words'],
    ['csp', 'utils_header_value', 'é'],
    ['ssl', 'tls_versions', 'tlsv1'],
    ['ssl', 'tls_versions', '[tlsv1.1, tlsv1.2]'],
    ['ssl', 'ciphers', '$(rm)'],
  ];
  for (const [section, key, value] of wrong) {
    assert.throws(() => config.set(section, key, value), { error: 'bad_request' }, `${section}/${key}`);
    config.set(section, key, '');
  }
  config.delete('ssl', 'tls_versions');
  config.set('ssl', 'tls_versions', "['tlsv1.2', 'tlsv1.3']");
});

test('where a whitelist is set, only what it names may be changed', () => {
  const config = new Config({
    overrides: { chttpd: { config_whitelist: '[{log,level}, {<<"uuids">>, "algorithm"}]' } },
  });
  config.set('log', 'level', 'debug');
  config.set('uuids', 'algorithm', 'random');
  config.delete('uuids', 'algorithm');
  for (const [section, key] of [
    ['uuids', 'max_count'],
    ['level', 'log'],
    ['chttpd', 'config_whitelist'],
    ['admins', 'eve'],
  ] as const) {
    assert.throws(() => config.set(section, key, '1'), { error: 'modification_not_allowed' });
    assert.throws(() => config.delete(section, key), { error: 'modification_not_allowed' });
  }
});

test('a whitelist that is no list can be corrected, and closes everything else', () => {
  for (const value of ['[', '!nothing!', 'log/level', '{[log, level]}']) {
    const config = new Config();
    config.set('chttpd', 'config_whitelist', value);
    assert.equal(config.get('chttpd', 'config_whitelist'), value);
    assert.throws(() => config.set('log', 'level', 'debug'), { error: 'modification_not_allowed' }, value);
    config.delete('chttpd', 'config_whitelist');
    config.set('log', 'level', 'debug');
  }
});

test('a file that was named but does not exist stops the start with one line', () => {
  assert.throws(
    () => new Config({ configFile: '/nowhere/x.ini' }),
    new StartupError('The configuration file /nowhere/x.ini does not exist.'),
  );
});

test('hostile names and values come back from the file as they went in', () => {
  const texts = [
    '',
    'a;b',
    'a ;b',
    ' ;',
    '#x',
    'p#ss',
    '"',
    '""',
    '"quoted"',
    "'single'",
    'a\\b',
    'a\\;b',
    '\\',
    'a=b',
    '[x]',
    'true',
    'null',
    '\u2028',
    'é😀',
    'a\tb',
    '{"j": 1}',
    '%00',
    '__proto__',
    'constructor',
  ];
  // Values set over the API are ASCII, as in CouchDB.
  const values = texts.filter((text) => /^[\t\x20-\x7e]*$/.test(text));
  const names = texts
    .filter((text) => text.trim() !== '' && !/[[\]\t]/.test(text))
    .map((text) => text.trim());
  const dataDir = folder();
  const config = new Config({ dataDir });
  for (const section of ['a.b', 'a', '__proto__', 'sp ; ace', 'a=b']) {
    names.forEach((name, index) => config.set(section, name, values[index % values.length]!));
    values.forEach((text, index) => config.set(section, `value${index}`, text));
    for (const text of texts)
      if (/[^\t\x20-\x7e]/.test(text.trim()))
        assert.throws(() => config.set(section, 'x', text), { error: 'bad_request' });
  }
  assert.equal(JSON.stringify(new Config({ dataDir }).all()), JSON.stringify(config.all()));
  values.forEach((text, index) =>
    assert.equal(new Config({ dataDir }).get('a.b', `value${index}`), text.trim()),
  );
});
