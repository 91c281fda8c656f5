import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { openAdmin, type AdminPage } from '../support/admin-page.js';
import { missingBrowser } from '../support/browser.js';

const skip = missingBrowser() ?? false;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string }[];
}

/** What axe-core calls serious or critical. */
async function problemsOf({ page }: AdminPage): Promise<string[]> {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const { axe: tool } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } };
    return (await tool.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`);
}

const places: [path: string, text: RegExp][] = [
  ['', /notes/],
  ['db/notes', /1 document/],
  ['db/notes/doc/a', /"hello"/],
  ['db/notes/doc/a?tab=attachments', /No attachments/],
  ['db/notes/doc/a?tab=history', /current/],
  ['db/notes/find?q=%7B%22selector%22%3A%7B%7D%7D', /Documents are read/],
  ['db/notes/views?ddoc=&view=', /1 row of 1 document/],
  ['db/notes/changes', /live/],
  ['db/notes/settings', /range/],
  ['replication', /No replications/],
  ['tasks', /Nothing is under way/],
  ['server', /tuffet@/],
  ['config?find=cors', /enable_cors/],
  ['users', /No users/],
  ['account', /a server admin/],
];

for (const scheme of ['light', 'dark'] as const) {
  test(`axe-core finds nothing serious on any page, ${scheme}`, { skip, timeout: 300_000 }, async (t) => {
    const admin = await openAdmin(t);
    await admin.page.emulateMedia({ colorScheme: scheme });
    await admin.client.put('/notes');
    await admin.client.put('/notes/a', { text: 'hello' });
    const found: string[] = [];
    for (const [path, text] of places) {
      await admin.go(path);
      await admin.page.locator('main').getByText(text).first().waitFor();
      found.push(...(await problemsOf(admin)).map((problem) => `${path}: ${problem}`));
    }
    assert.deepEqual(found, []);
    admin.assertNoTrouble();
  });
}

test('everything can be reached by the keyboard', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/notes');
  await client.put('/notes/a', { text: 'hello' });
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('notes');
  await page.getByRole('option', { name: /notes/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'a', exact: true }).waitFor();
  await page.getByRole('rowgroup').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('"hello"').waitFor();
  const editor = page.getByLabel('Document as JSON');
  await editor.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText((await admin.textOf('Document as JSON')).replace('hello', 'by keyboard'));
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByText('Saved.').waitFor();
  assert.equal((await client.get('/notes/a')).body.text, 'by keyboard');
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('create database');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  await page.getByText('No documents yet').waitFor();
  assert.equal((await client.get('/typed')).status, 200);
  admin.assertNoTrouble();
});

test('on a phone nothing is wider than the screen', { skip }, async (t) => {
  const admin = await openAdmin(t, { viewport: { width: 390, height: 800 } });
  await admin.client.put('/notes');
  await admin.client.put('/notes/a', { text: 'hello' });
  for (const [path, text] of places) {
    await admin.go(path);
    await admin.page.locator('main').getByText(text).first().waitFor();
    const overflow = await admin.page.evaluate(() => {
      const { document, innerWidth } = globalThis as unknown as {
        document: {
          documentElement: { scrollWidth: number };
          querySelector: (s: string) => { scrollWidth: number; clientWidth: number };
        };
        innerWidth: number;
      };
      const main = document.querySelector('main');
      return Math.max(document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth);
    });
    assert.ok(overflow <= 0, `${path}: ${overflow} pixels too wide`);
  }
  admin.assertNoTrouble();
});

const hostile = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
  '\u202egnp.exe',
  '{{constructor.constructor("alert(1)")()}}',
  'a/b?c#d%25&e',
  'constructor',
];

test('hostile documents are shown as text and harm nothing', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/bad');
  const docs = hostile.map((text, at) => ({
    _id: text,
    [text]: text,
    at,
    text,
    deep: { ['__proto__']: text },
  }));
  await client.post('/bad/_bulk_docs', { docs: [...docs, { _id: 'long', text: 'x'.repeat(1 << 20) }] });
  const map = 'function (doc) { emit(doc._id, doc.text); }';
  await client.put('/bad/_design/%3Cb%3Ev%3C%2Fb%3E', { views: { '<i>v</i>': { map } } });
  for (const path of [
    'db/bad',
    'db/bad?as=json',
    'db/bad/changes',
    'db/bad/views?ddoc=%3Cb%3Ev%3C%2Fb%3E&view=%3Ci%3Ev%3C%2Fi%3E',
  ]) {
    await admin.go(path);
    await page.locator('main').getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await page.locator('main').getByText('\\u202egnp.exe').first().waitFor();
  }
  const all = encodeURIComponent('{"selector": {"at": {"$gte": 0}}}');
  await admin.go(`db/bad/find?q=${all}`);
  await page
    .getByRole('region', { name: 'Results' })
    .getByText('"><script>alert(1)</script>')
    .first()
    .waitFor();
  for (const id of [...hostile, 'long']) {
    await admin.go(`db/bad/doc/${encodeURIComponent(id)}`);
    await page.getByLabel('Document as JSON').getByText('_rev').waitFor();
    await page.getByRole('button', { name: 'Format' }).click();
  }
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  // A name of the page's own objects is a name like any other.
  assert.equal(await page.evaluate(() => typeof ({} as { at?: unknown }).at), 'undefined');
  admin.assertNoTrouble();
});
