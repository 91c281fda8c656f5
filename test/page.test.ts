import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer } from '../src/server/create-server.js';
import { launchBrowser, missingBrowser } from './support/browser.js';

const skip = missingBrowser() ?? false;

test('the page asks for a login and then lists the databases', { skip }, async () => {
  const server = await createServer({
    inMemory: true,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: { tuffet: { auto_setup: 'false' } },
  });
  const browser = await launchBrowser();
  try {
    const authorization = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
    for (const name of ['pears', 'plums']) {
      await fetch(`${server.url}/${name}`, { method: 'PUT', headers: { authorization } });
    }
    await fetch(`${server.url}/pears/one`, { method: 'PUT', headers: { authorization }, body: '{}' });
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    // The address without the slash leads there too.
    await page.goto(`${server.url}/_utils`);
    assert.equal(page.url(), `${server.url}/_utils/`);
    await page.locator('form').waitFor({ state: 'visible' });
    await page.fill('input[name=user]', 'admin');
    await page.fill('input[name=password]', 'wrong');
    await page.click('button');
    await page.getByText('Name or password is incorrect').waitFor();
    await page.fill('input[name=password]', 'secret');
    await page.click('button');
    await page.locator('tbody tr').first().waitFor();
    const rows = await page.locator('tbody tr').allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.split('\t').slice(0, 3)),
      [
        ['pears', '1', '0'],
        ['plums', '0', '0'],
      ],
    );
    assert.equal(await page.locator('form').isVisible(), false);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
