import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingBrowser } from '../support/browser.js';
import { openAdmin } from '../support/admin-page.js';

test('a login, the databases, a document and a query', { skip: missingBrowser() ?? false }, async (t) => {
  const admin = await openAdmin(t, { isLoggedIn: false });
  const { page, client } = admin;
  await client.put('/pears');
  await client.put('/plums');
  await client.put('/pears/one', { kind: 'Conference', weight: 12345678901234567890n.toString() });

  // The address without the slash leads there too.
  await page.goto(`${admin.url.replace(/\/_utils\/$/, '')}/_utils`);
  assert.equal(page.url(), admin.url);
  await page.getByLabel('Name').fill('admin');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').getByText('Name or password is incorrect').waitFor();
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Log in' }).click();

  await page.getByRole('link', { name: 'plums' }).waitFor();
  await page.getByRole('link', { name: 'pears' }).click();
  await page.getByRole('link', { name: 'one' }).click();
  const editor = page.getByLabel('Document as JSON');
  await editor.getByText('"Conference"').waitFor();
  await admin.type('Document as JSON', (text) => text.replace('Conference', 'Williams'));
  await page.getByRole('button', { name: /^Save/ }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await client.get('/pears/one')).body.kind, 'Williams');

  await page.goto(`${admin.url}#/db/pears/find`);
  await admin.type('Query as JSON', () => '{"selector": {"kind": "Williams"}}');
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByRole('region', { name: 'Results' }).getByRole('link', { name: 'one' }).waitFor();
  assert.ok(decodeURIComponent(page.url()).includes('Williams'), page.url());
  admin.assertNoTrouble();
});
