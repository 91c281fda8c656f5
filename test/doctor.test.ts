import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Config } from '../src/config/config.js';
import { examine, report } from '../src/main/doctor/doctor.js';
import type { Finding } from '../src/main/doctor/finding.js';
import { tlsFindings } from '../src/main/doctor/tls-findings.js';
import { createServer } from '../src/server/create-server.js';
import { temporaryFolder } from './support/server.js';
import { pemFile } from './support/tls.js';

const program = path.resolve(import.meta.dirname, '../src/main/cli.js');
const hash = '-pbkdf2-d67a70adc36f17bf5a25ce3a7ab6bb0b3aba9e1d,c0ffee,10';
const admin = `[admins]\nann = ${hash}\n[chttpd_auth]\nsecret = long and random\n`;

/** A data folder as a server would leave it, with these files. */
function dataFolder(files: Record<string, string> = {}): string {
  const folder = temporaryFolder();
  fs.chmodSync(folder, 0o700);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  }
  return folder;
}

const examined = (ini: string): Finding[] => examine({ dataDir: dataFolder({ 'local.ini': ini + admin }) });
const problemsOf = (findings: Finding[]): Finding[] => findings.filter(({ level }) => level === 'problem');

/** Fails unless some finding of this level says both. */
function assertFound(findings: Finding[], level: Finding['level'], message: RegExp, advice: RegExp): void {
  const found = findings.some(
    (finding) => finding.level === level && message.test(finding.message) && advice.test(finding.advice),
  );
  assert.ok(found, `${message} is missing among\n${report(findings)}`);
}

describe('The doctor on options', () => {
  test('has no problem with a plain configuration, and says how to close databases', () => {
    const findings = examined('');
    assert.deepEqual(problemsOf(findings), []);
    assertFound(findings, 'note', /open to everyone/, /\[couchdb\] default_security = admin_only/);
    const closed = examined('[couchdb]\ndefault_security = admin_only\n');
    assert.ok(!closed.some(({ about }) => about.includes('default_security')), report(closed));
  });

  test('names what is meant by an unknown option', () => {
    const cases: [ini: string, meant: string][] = [
      ['[chttpd]\nprot = 1\n', '[chttpd] port'],
      ['[chttpd]\nbind_adress = 127.0.0.1\n', '[chttpd] bind_address'],
      ['[chtpd]\nport = 1\n', '[chttpd] port'],
      ['[couchdb]\nmax_documnet_size = 1\n', '[couchdb] max_document_size'],
      ['[couchdb]\nenable_cors = true\n', '[chttpd] enable_cors'],
      ['[cors]\norigin = *\n', '[cors] origins'],
      ['[cors:db.example]\ncredential = true\n', '[cors:db.example] credentials'],
      ['[chttpd_auth]\ntimout = 1\n', '[chttpd_auth] timeout'],
    ];
    for (const [ini, meant] of cases) {
      const [found] = problemsOf(examined(ini));
      assert.equal(found?.advice, `Did you mean ${meant}?`, ini);
      assert.match(found!.about, /local\.ini:2$/);
    }
  });

  test('says which file and line has a value that cannot be, and what could', () => {
    const [found] = problemsOf(examined('; a comment\n[uuids]\n\nalgorithm = magic\n'));
    assert.match(found!.about, /local\.ini:4$/);
    assert.match(found!.message, /"magic": sequential is used/);
    assert.match(found!.advice, /one of random, sequential/);
    assertFound(examined('[httpd]\nenable_cors = yes\n'), 'problem', /"yes"/, /true or false/);
    assertFound(examined('port = 1\n'), 'problem', /before any section/, /\[chttpd\]/);
  });

  test('tells older names and CouchDB’s own options from mistakes', () => {
    const findings = examined(
      '[httpd]\nenable_cors = false\nport = 5986\n[smoosh.ratio_dbs]\nmin_priority = 2.0\n[couchdb]\ndatabase_dir = /x\n[mine]\na = 1\n',
    );
    assert.deepEqual(problemsOf(findings), []);
    assertFound(findings, 'note', /older name/, /\[chttpd\] enable_cors/);
    assertFound(findings, 'note', /\[httpd\] port has no effect/, /\[chttpd\] port/);
    assertFound(findings, 'note', /option of CouchDB/, /./);
    assertFound(findings, 'note', /database_dir/, /--data/);
    assertFound(findings, 'note', /section of your own/, /./);
  });

  test('finds passwords in clear text and damaged hashes, and repeats neither', () => {
    const findings = examined('[admins]\nbob = hunter2\neve = -pbkdf2-nothex,salt,10\n');
    assertFound(findings, 'problem', /bob stands there in clear text/, /Start the server once/);
    assertFound(findings, 'problem', /eve is damaged/, /password/);
    assert.doesNotMatch(report(findings), /hunter2|nothex/);
  });

  test('misses a server admin and a secret', () => {
    const findings = examine({ dataDir: dataFolder() });
    assertFound(findings, 'problem', /no server admin/, /\[admins\]/);
    assertFound(findings, 'note', /No secret/, /openssl rand/);
  });

  test('names a file that is not there or cannot be read', () => {
    const missing = examine({ dataDir: dataFolder(), configFile: '/nowhere/x.ini' });
    assertFound(missing, 'problem', /x\.ini does not exist/, /does not start/);
  });
});

describe('The doctor on who may do what from where', () => {
  test('warns of an address for all without TLS, and says how to have both', () => {
    const open = examined('[chttpd]\nbind_address = 0.0.0.0\n');
    assertFound(open, 'problem', /0\.0\.0\.0 without TLS/, /\[ssl\] enable/);
    assertFound(open, 'problem', /open to everyone, also without a login/, /admin_only/);
    const tls = `[ssl]\nenable = true\ncert_file = ${pemFile('server-cert')}\nkey_file = ${pemFile('server-key')}\n`;
    const both = examined(`[chttpd]\nbind_address = 0.0.0.0\n${tls}`);
    assertFound(both, 'problem', /without TLS/, /\[chttpd\] bind_address = 127\.0\.0\.1/);
    const apart = examined(`${tls}bind_address = 0.0.0.0\n[couchdb]\ndefault_security = admin_only\n`);
    assert.ok(!apart.some(({ message }) => /without TLS|everyone/.test(message)), report(apart));
  });

  test('warns of pages that may act for everybody', () => {
    const cors = '[chttpd]\nenable_cors = true\n[cors]\n';
    assertFound(
      examined(`${cors}origins = *\ncredentials = true\n`),
      'problem',
      /Every page/,
      /credentials = false/,
    );
    assertFound(examined(`${cors}origins = *\n`), 'note', /Every page/, /origins/);
    assertFound(examined(cors), 'note', /no origin is named/, /https:/);
    assertFound(
      examined(`${cors}origins = *\n[cors:db.example]\ncredentials = true\n`),
      'problem',
      /Every page/,
      /\[cors:db\.example\] credentials/,
    );
    const oneOrigin = `${cors}origins = *\n[cors:https://app.example.com]\ncredentials = true\n`;
    assert.deepEqual(problemsOf(examined(oneOrigin)), []);
    assertFound(
      examined('[cors:a.example]\nmax_age = long\n'),
      'problem',
      /that of \[cors\] is used/,
      /whole number/,
    );
    assert.deepEqual(
      problemsOf(examined(`${cors}origins = https://app.example.com\ncredentials = true\n`)),
      [],
    );
    assertFound(examined('[chttpd]\nallow_jsonp = true\n'), 'problem', /Any page may read/, /CORS/);
    assertFound(
      examined('[csp]\nattachments_enable = false\n'),
      'problem',
      /Without the policy/,
      /Set it to true/,
    );
  });

  test('recommends as many iterations as are usual today', () => {
    assertFound(examined(''), 'note', /hashed 10000 times/, /600000/);
    const findings = examined('[chttpd_auth]\niterations = 600000\n');
    assert.ok(!findings.some(({ message }) => /hashed/.test(message)));
  });

  test('warns of iterations that nobody could log in with', () => {
    const findings = examined('[chttpd_auth]\niterations = 5\nmin_iterations = 10\n');
    assertFound(findings, 'problem', /no user could log in/, /min_iterations/);
  });
});

describe('The doctor on TLS', () => {
  const config = (ssl: Record<string, string>): Config =>
    new Config({
      overrides: {
        ssl: {
          enable: 'true',
          cert_file: pemFile('server-cert'),
          key_file: pemFile('server-key'),
          ...ssl,
        },
      },
    });

  test('says what keeps it from being served', () => {
    assertFound(tlsFindings(config({ key_file: '' })), 'problem', /key_file is not set/, /docs\/tls\.md/);
    assertFound(
      tlsFindings(config({ key_file: pemFile('renewed-key') })),
      'problem',
      /does not belong/,
      /does not start/,
    );
    assertFound(tlsFindings(config({ enable: 'false' })), 'problem', /TLS is off/, /enable = true/);
  });

  test('knows when a certificate ends', () => {
    const at = (date: string): Finding[] => tlsFindings(config({}), Date.parse(date));
    assertFound(at('2120-01-02'), 'problem', /has expired/, /_reload/);
    assertFound(at('2119-12-20'), 'problem', /expires soon/, /_reload/);
    assertFound(at('2019-12-31'), 'problem', /counts only from/, /clock/);
    assertFound(at('2030-01-01'), 'note', /signed itself/, /./);
  });

  test('warns of keys that others can read, and of clients that are not checked', () => {
    const key = path.join(temporaryFolder(), 'key.pem');
    fs.copyFileSync(pemFile('server-key'), key);
    fs.chmodSync(key, 0o644);
    assertFound(tlsFindings(config({ key_file: key })), 'problem', /Others.*private key/, /chmod 600/);
    assertFound(
      tlsFindings(config({ fail_if_no_peer_cert: 'true' })),
      'problem',
      /no effect/,
      /verify_ssl_certificates = true/,
    );
    assertFound(
      tlsFindings(config({ verify_ssl_certificates: 'true' })),
      'problem',
      /anybody can get one/,
      /issuer/,
    );
  });
});

describe('The doctor on a data folder', () => {
  test('sees rights that are too wide', () => {
    const folder = dataFolder({ 'local.ini': admin });
    fs.chmodSync(folder, 0o755);
    fs.chmodSync(path.join(folder, 'local.ini'), 0o644);
    const findings = examine({ dataDir: folder });
    assertFound(findings, 'problem', /look into the data folder/, /chmod 700/);
    assertFound(findings, 'problem', /holds passwords or secrets/, /chmod 600/);
  });

  test('sees a folder that is missing, a file, CouchDB’s, or of a newer version', () => {
    const missing = path.join(temporaryFolder(), 'none');
    assertFound(examine({ dataDir: missing }), 'note', /does not exist/, /first start/);
    assert.equal(fs.existsSync(missing), false);
    const file = path.join(temporaryFolder(), 'file');
    fs.writeFileSync(file, '');
    assertFound(examine({ dataDir: file }), 'problem', /is a file/, /--data/);
    assertFound(
      examine({ dataDir: dataFolder({ '_dbs.couch': '' }) }),
      'problem',
      /CouchDB’s own files/,
      /replicate/,
    );
    assertFound(
      examine({ dataDir: dataFolder({ 'tuffet.json': '{"format":99}' }) }),
      'problem',
      /format 99/,
      /version/,
    );
    assertFound(examine({ dataDir: dataFolder({ 'tuffet.json': 'x' }) }), 'problem', /damaged/, /backup/);
  });

  test('sees what was left behind, and what it does not know', () => {
    const dataDir = dataFolder({
      'local.ini': admin,
      lock: '999999999 1\n',
      'spool-0123456789abcdef': '',
      'spool-copy-aB3xYz/0/data.mdb': '',
      '.local.ini.0123456789ab': '',
      'workers/epochs': '',
      'incoming/x': '',
      'incoming.complete/x': '',
      'holiday.jpg': '',
    });
    const findings = examine({ dataDir });
    assertFound(findings, 'note', /did not end in order/, /next start/);
    assert.equal(findings.filter(({ message }) => message.includes('left behind')).length, 3);
    const unknown = findings.filter(({ message }) => /Nothing that the server knows/.test(message));
    assert.deepEqual(
      unknown.map(({ about }) => path.basename(about)),
      ['holiday.jpg'],
    );
    assert.deepEqual(problemsOf(findings), []);
  });

  test('may be asked while a server runs, changes nothing, and has no problem with what the server made', async () => {
    const dataDir = dataFolder({ 'local.ini': admin });
    const server = await createServer({ dataDir, port: 0, logLevel: 'none' });
    // Opens the documents, which nobody has asked for yet.
    await fetch(`${server.url}/_users`);
    const listing = fs.readdirSync(dataDir).sort();
    const found = spawnSync(process.execPath, [program, 'doctor', '--data', dataDir], { encoding: 'utf8' });
    const after = fs.readdirSync(dataDir).sort();
    await server.close();
    assert.match(found.stdout, new RegExp(`using the folder: process ${process.pid}`));
    assert.match(found.stdout, /^no problems, \d+ notes\.$/m);
    assert.equal(found.status, 0, found.stdout + found.stderr);
    assert.deepEqual(after, listing);
    assert.doesNotMatch(found.stdout, /Nothing that the server knows/);
  });
});

describe('tuffet doctor', () => {
  const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [program, 'doctor', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    });

  test('ends with 1 and JSON where there are problems, with 0 where there are none', () => {
    const wrong = run(['--json', '--data', dataFolder({ 'local.ini': '[uuids]\nalgorithm = magic\n' })]);
    assert.equal(wrong.status, 1);
    const { ok, findings } = JSON.parse(wrong.stdout) as { ok: boolean; findings: Finding[] };
    assert.equal(ok, false);
    assert.ok(findings.some(({ message }) => message.includes('magic')));
    const right = run(['--json', '--data', dataFolder({ 'local.ini': admin })]);
    assert.equal(right.status, 0);
    assert.equal((JSON.parse(right.stdout) as { ok: boolean }).ok, true);
  });

  test('heeds the command line and the environment', () => {
    const dataDir = dataFolder();
    const environment = { TUFFET_USER: 'ann', TUFFET_PASSWORD: 'x', TUFFET_DATA: dataDir };
    assert.equal(run([], environment).status, 0);
    const open = run(['--bind', '0.0.0.0'], environment);
    assert.equal(open.status, 1);
    assert.match(open.stdout, /0\.0\.0\.0 without TLS/);
    const cors = run([], { ...environment, TUFFET__CHTTPD__ALLOW_JSONP: 'true', COUCHDB_SECRET: 's' });
    assert.match(cors.stdout, /allow_jsonp/);
    assert.doesNotMatch(cors.stdout, /No secret/);
    const unknown = run([], { ...environment, TUFFET__CHTTPD__ALOW_JSONP: 'true' });
    assert.equal(unknown.status, 1);
    assert.match(unknown.stderr, /TUFFET__CHTTPD__ALOW_JSONP is set, but there is no option/);
  });
});

test('on a running server the doctor asks that server, and has no problem with an admin of its command line', async () => {
  const dataDir = dataFolder();
  const child = spawn(process.execPath, [program, '--data', dataDir, '--port', '0', '--admin', 'ann:secret']);
  try {
    let output = '';
    for await (const data of child.stdout) if ((output += String(data)).includes('Data:')) break;
    const port = /:(\d+)\//.exec(output)![1]!;
    const run = (...args: string[]): { ok: boolean; findings: Finding[] } => {
      const { stdout } = spawnSync(
        process.execPath,
        [program, 'doctor', '--json', '--data', dataDir, ...args],
        {
          env: { PATH: process.env['PATH'] },
          encoding: 'utf8',
        },
      );
      return JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
    };
    const asked = run('--port', port);
    assert.equal(asked.ok, true, report(asked.findings));
    assertFound(asked.findings, 'note', /The server answers, and is well/, /_stats/);
    assertFound(asked.findings, 'note', /A server is using the folder/, /tuffet check/);
    assertFound(asked.findings, 'note', /the next start needs one/, /\[admins\]/);
    assertFound(run('--port', '1').findings, 'note', /No server answers/, /another --port/);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});
