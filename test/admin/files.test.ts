import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';

const client = await startServer();

/** Names of the page's own files, as the page has them. */
async function assetsOfPage(): Promise<string[]> {
  const { text } = await client.get('/_utils/');
  return [...text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!);
}

describe('The files of the admin page', () => {
  test('have names that change with their contents, and are kept by browsers', async () => {
    const names = await assetsOfPage();
    assert.ok(
      names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.css')),
      String(names),
    );
    for (const name of names) {
      const { status, headers } = await client.anonymous.get(`/_utils/${name}`);
      assert.equal(status, 200);
      assert.match(String(headers['cache-control']), /immutable/);
    }
    assert.equal((await client.get('/_utils/')).headers['cache-control'], 'no-cache');
  });

  test('are sent compressed to those who accept that, and not again to those who have them', async () => {
    const plain = await client.get('/_utils/');
    const packed = await client.get('/_utils/', { 'accept-encoding': 'gzip, br;q=0.5' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(packed.headers['content-encoding'], 'br');
    assert.equal(packed.headers.vary, 'Accept-Encoding');
    const again = await client.get('/_utils/', { 'if-none-match': plain.headers.etag! });
    assert.equal(again.status, 304);
  });

  test('take less than 300 kB before the page can be used', async () => {
    let bytes = 0;
    for (const name of await assetsOfPage()) {
      const { headers } = await client.get(`/_utils/${name}`, { 'accept-encoding': 'gzip' });
      bytes += Number(headers['content-length']);
    }
    assert.ok(bytes > 0 && bytes < 300_000, `${bytes} bytes`);
  });

  test('session.html is the page', async () => {
    const { text } = await client.anonymous.get('/_utils/session.html?return=%2F');
    assert.equal(text, (await client.get('/_utils/')).text);
  });

  test('nothing else can be read', async () => {
    const tricks = [
      'none.html',
      '../src/index.js',
      '..%2Fsrc%2Findex.js',
      '%2e%2e/src/index.js',
      'assets',
      'a%00b',
    ];
    for (const trick of [...tricks, '.hidden', '..%5C..%5Cpackage.json', '%2Fetc%2Fpasswd', 'C:%5Cx']) {
      assertRefused(await client.get(`/_utils/${trick}`), 404);
    }
    assertRefused(await client.send('POST', '/_utils/', { json: {} }), 405);
  });
});

describe('Another folder', () => {
  const folder = temporaryFolder();
  fs.mkdirSync(path.join(folder, 'js'));
  fs.writeFileSync(path.join(folder, 'index.html'), '<p>Another page</p>');
  fs.writeFileSync(path.join(folder, 'js', 'a.js'), 'run()');
  fs.symlinkSync('/etc/passwd', path.join(folder, '.passwd'));

  test('is served where utils_dir names it, with a policy that Fauxton can live with', async () => {
    const other = await startServer({ config: { tuffet: { utils_dir: folder } } });
    const page = await other.get('/_utils/');
    assert.equal(page.text, '<p>Another page</p>');
    assert.match(String(page.headers['content-security-policy']), /'unsafe-eval'/);
    const script = await other.get('/_utils/js/a.js');
    assert.equal(script.text, 'run()');
    assert.match(String(script.headers['content-type']), /^text\/javascript/);
    assert.equal(script.headers['cache-control'], 'no-cache');
    assertRefused(await other.get('/_utils/.passwd'), 404);
    assertRefused(await other.get('/_utils/js/../../x'), 404);
  });

  test('can not be named over the API', async () => {
    assertRefused(await client.put('/_node/_local/_config/tuffet/utils_dir', '/etc'), 403);
  });
});
