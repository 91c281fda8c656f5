import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin, type AdminPage } from '../support/admin-page.js';
import { missingBrowser } from '../support/browser.js';

const skip = missingBrowser() ?? false;

async function withOrders(t: Parameters<typeof openAdmin>[0]): Promise<AdminPage> {
  const admin = await openAdmin(t);
  await admin.client.put('/orders?q=1');
  const docs = Array.from({ length: 200 }, (_, at) => ({
    _id: `o${at}`,
    city: at % 2 ? 'Oslo' : 'Graz',
    total: at,
  }));
  await admin.client.post('/orders/_bulk_docs', { docs });
  return admin;
}

test('a query completes names, tells its statistics, pages, and survives a reload', { skip }, async (t) => {
  const admin = await withOrders(t);
  const { page } = admin;
  await admin.go('db/orders/find');
  await admin.type('Query as JSON', () => '{"selector": {');
  await page.keyboard.type('"ci');
  await page.locator('.cm-tooltip-autocomplete').getByText('"city"').waitFor();
  await page.locator('.cm-tooltip-autocomplete').getByText('"city"').click();
  assert.match(await admin.textOf('Query as JSON'), /"city"/);
  await admin.type('Query as JSON', () => '{"selector": {"city": "Oslo"}, "limit": 10}');
  await page.getByLabel('Query as JSON').press('ControlOrMeta+Enter');
  const results = page.getByRole('region', { name: 'Results' });
  await results.getByRole('link', { name: 'o1', exact: true }).waitFor();
  await page.getByLabel('Statistics').getByText('10', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await results.getByRole('link', { name: 'o1', exact: true }).waitFor({ state: 'detached' });
  const second = await results.innerText();
  await page.reload();
  await page.getByText('"Oslo"').first().waitFor();
  await results.getByRole('link').first().waitFor();
  assert.equal(await results.innerText(), second);
  admin.assertNoTrouble();
});

test(
  'the plan says why an index is taken or not, and an index is made from the query',
  { skip },
  async (t) => {
    const admin = await withOrders(t);
    const { page, client } = admin;
    await client.post('/orders/_index', { index: { fields: ['colour'] }, name: 'by-colour' });
    const query = JSON.stringify({ selector: { city: 'Oslo', total: { $gt: 100 } } });
    await admin.go(`db/orders/find?q=${encodeURIComponent(query)}`);
    await page.getByText('Documents that match might lack one of its fields.').waitFor();
    await page.getByText('An index on city, total would spare reading every document.').waitFor();
    await page.getByRole('button', { name: 'Create this index' }).click();
    await page.locator('.plan .chosen').getByText('city-total').waitFor();
    const { body } = await client.post('/orders/_explain', JSON.parse(query));
    assert.equal(body.index.name, 'city-total');
    await page.getByTitle('Delete the index by-colour').click();
    await page.getByText('Documents that match might lack one of its fields.').waitFor();
    await page.getByRole('region', { name: 'Indexes' }).getByText('by-colour').waitFor({ state: 'detached' });
    admin.assertNoTrouble();
  },
);

test('an error of a query stands on the page with the reason of the server', { skip }, async (t) => {
  const admin = await withOrders(t);
  await admin.go(`db/orders/find?q=${encodeURIComponent('{"selector": {"a": {"$none": 1}}}')}`);
  await admin.page
    .getByRole('alert')
    .first()
    .getByText(/\$none/)
    .waitFor();
  admin.assertNoTrouble();
});

test('a view is tried on a sample while it is written, saved, queried and changed', { skip }, async (t) => {
  const admin = await withOrders(t);
  const { page, client } = admin;
  await admin.go('db/orders/views');
  await page.getByRole('link', { name: 'New view' }).click();
  await page.getByLabel('Design document').fill('sales');
  await page.getByLabel('View', { exact: true }).fill('by-city');
  await admin.type('Map function', () => 'function (doc) { emit(doc.city, doc.total); }');
  await page.getByText('100 rows of 100 documents').waitFor();
  await admin.type('Map function', () => 'function (doc) { for (;;); }');
  await page.getByText('The function took longer than 3 s.').waitFor();
  await admin.type('Map function', () => 'function (doc) { fetch("/_all_dbs"); }');
  await page.getByText(/fetch is not a function|undefined/).waitFor();
  await admin.type('Map function', () => 'function (doc) { emit(doc.city, doc.total); }');
  await page.getByLabel('Reduce').first().selectOption('_sum');
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByText(/^Saved\./).waitFor();
  assert.equal((await client.get('/orders/_design/sales')).body.views['by-city'].reduce, '_sum');
  await page.getByText('200 rows in the view').waitFor();
  await page.getByLabel('Reduce').last().selectOption('exact');
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('region', { name: 'Rows of the view' }).getByText('10000').waitFor();
  await page.getByLabel('Key', { exact: true }).fill('Oslo');
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByText('key has to be JSON; texts stand in double quotes.').waitFor();
  await page.getByLabel('Key', { exact: true }).fill('"Graz"');
  await page.getByRole('button', { name: 'Query' }).click();
  await page.getByRole('region', { name: 'Rows of the view' }).getByText('9900').waitFor();
  assert.match(page.url(), /key=/);
  await page.getByRole('button', { name: 'Delete view' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No views yet').waitFor();
  admin.assertNoTrouble();
});

test('what is typed faster than the page draws stays as it was typed', { skip }, async (t) => {
  const admin = await withOrders(t);
  const { page } = admin;
  await admin.go('db/orders/views');
  await page.getByRole('link', { name: 'New view' }).click();
  await admin.type('Map function', () => '');
  const text = Array.from({ length: 40 }, (_, at) => `/* line ${at} */ `).join('');
  // Each key is sent before the page has drawn the last one.
  await Promise.all([...text].map((key) => page.keyboard.insertText(key)));
  assert.equal((await admin.textOf('Map function')).replaceAll('\u00a0', ' ').trim(), text.trim());
  admin.assertNoTrouble();
});

test('changes are shown as they happen, filtered and paused', { skip }, async (t) => {
  const admin = await withOrders(t);
  const { page, client } = admin;
  await admin.go('db/orders/changes');
  await page.getByText('live, 0 new').waitFor();
  await client.put('/orders/fresh', { city: 'Bonn' });
  const table = page.getByRole('region', { name: 'Changes' });
  await table.getByRole('link', { name: 'fresh', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await client.put('/orders/later', { city: 'Bonn' });
  await page.getByText('paused').waitFor();
  assert.equal(await table.getByRole('link', { name: 'later' }).count(), 0);
  await page.getByRole('button', { name: 'Go on' }).click();
  await table.getByRole('link', { name: 'later' }).waitFor();
  const selector = encodeURIComponent('{"city":"Bonn"}');
  await admin.go(`db/orders/changes?selector=${selector}`);
  await table.getByRole('link', { name: 'o1', exact: true }).waitFor({ state: 'detached' });
  await table.getByRole('link', { name: 'fresh', exact: true }).waitFor();
  await page.getByLabel('Show ids that contain').fill('lat');
  await table.getByRole('link', { name: 'fresh' }).waitFor({ state: 'detached' });
  admin.assertNoTrouble();
});

test('texts are searched in an index, page by page; a query in error says why', { skip }, async (t) => {
  const admin = await withOrders(t);
  const { page, client } = admin;
  await admin.go('db/orders/search');
  await page.getByText('No search index yet.').waitFor();
  const index = "function (doc) { if (doc.city) index('city', doc.city, { store: true }); }";
  await client.put('/orders/_design/texts', { indexes: { cities: { index } } });
  await page.reload();
  await page.getByLabel('Query', { exact: true }).fill('city:oslo');
  await page.keyboard.press('Enter');
  await page.getByText('100 found, the best first').waitFor();
  const results = page.getByRole('region', { name: 'Results' });
  const links = results.getByRole('link');
  const first = await links.first().innerText();
  await page.getByRole('button', { name: 'Next page' }).click();
  await results.getByRole('link', { name: first, exact: true }).waitFor({ state: 'detached' });
  await links.first().waitFor();
  const second = await links.first().innerText();
  await page.reload();
  await results.getByRole('link', { name: second, exact: true }).waitFor();
  await page.getByRole('button', { name: 'First page' }).click();
  await results.getByRole('link', { name: first, exact: true }).waitFor();
  await page.getByLabel('Query', { exact: true }).fill('city:[oslo');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('bad_request').waitFor();
  admin.assertNoTrouble();
});
