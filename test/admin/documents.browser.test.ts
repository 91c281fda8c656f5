import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openAdmin } from '../support/admin-page.js';
import { missingBrowser } from '../support/browser.js';
import { temporaryFolder } from '../support/server.js';

const skip = missingBrowser() ?? false;
const folder = temporaryFolder();

test(
  'a database is created with shards and partitions, found by name, compacted and deleted by typing its name',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await page.getByRole('button', { name: 'Create database' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Bad Name');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').getByText('illegal_database_name').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('fruit');
    await dialog.getByLabel('Shards').fill('2');
    await dialog.getByLabel(/Partitioned/).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('No documents yet').waitFor();
    const { body } = await client.get('/fruit');
    assert.equal(body.cluster.q, 2);
    assert.equal(body.props.partitioned, true);

    await admin.go('?find=fru');
    await page.getByRole('row', { name: /fruit.*partitioned/ }).waitFor();
    assert.equal(await page.getByRole('link', { name: '_users' }).count(), 0);

    await admin.go('db/fruit/settings');
    await page.getByRole('button', { name: 'Compact' }).click();
    await page.getByText('Compaction has begun.').waitFor();
    await page.getByRole('button', { name: 'Delete database' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete database' });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByLabel('Type fruit to confirm').fill('fruit');
    await confirm.click();
    await page.getByText('The database is deleted.').waitFor();
    assert.equal((await client.get('/fruit')).status, 404);
    admin.assertNoTrouble();
  },
);

test('sizes and counts of databases are live, and thousands of databases scroll', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  const names = Array.from({ length: 1500 }, (_, at) => `/many-${String(at).padStart(5, '0')}?q=1`);
  for (let at = 0; at < names.length; at += 50) {
    await Promise.all(names.slice(at, at + 50).map((name) => client.put(name)));
  }
  await admin.go('?find=many');
  await page.getByText('1,500 databases').waitFor();
  const rows = page.getByRole('row');
  assert.ok((await rows.count()) < 100, 'only rows in sight exist');
  await client.put('/many-00000/a', {});
  await page.getByRole('row', { name: /many-00000 1/ }).waitFor();
  await page.getByRole('rowgroup').focus();
  await page.keyboard.press('End');
  await page.getByRole('link', { name: 'many-01499' }).waitFor();
  await page.getByRole('row', { name: /many-01499 0/ }).waitFor();
  admin.assertNoTrouble();
});

test(
  'a document is created, edited, compared, kept as a draft, and deleted; numbers stay as they are',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await client.put('/notes');
    await client.send('PUT', '/notes/numbers', {
      raw: '{"big":12345678901234567890,"one":1.0,"title":"first"}',
    });
    await admin.go('db/notes/doc/numbers');
    await page.getByText('12345678901234567890').waitFor();
    await admin.type('Document as JSON', (text) => text.replace('"first"', '"second"'));
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.locator('.cm-deletedChunk').getByText('first').waitFor();
    // A reload loses nothing.
    await page.reload();
    await page.getByText('These are changes that were not saved.').waitFor();
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText('Saved.').waitFor();
    const { text } = await client.get('/notes/numbers');
    assert.match(text, /"big":12345678901234567890,"one":1\.0,"title":"second"/);

    await admin.type('Document as JSON', () => '{"_id": "numbers", ');
    await page.getByText('Not valid JSON').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Save/ }).isDisabled(), true);

    await admin.go('db/notes/new');
    await page.getByText('"_id"').waitFor();
    await admin.type('Document as JSON', () => '{"_id": "made/here", "n": [1]}');
    await page.getByRole('button', { name: 'Format' }).click();
    await page.getByRole('button', { name: /^Create/ }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted.').waitFor();
    assert.equal((await client.get('/notes/made%2Fhere')).status, 404);
    admin.assertNoTrouble();
  },
);

test('a save that comes too late says so, and goes on from the newest revision', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/notes');
  const { body } = await client.put('/notes/a', { text: 'mine' });
  await admin.go('db/notes/doc/a');
  await page.getByText('"mine"').waitFor();
  await client.put('/notes/a', { _rev: body.rev, text: 'theirs' });
  await admin.type('Document as JSON', (text) => text.replace('"mine"', '"mine too"'));
  await page.getByRole('button', { name: /^Save/ }).click();
  await page.getByRole('alert').getByText('conflict', { exact: true }).waitFor();
  await page.getByRole('button', { name: /Compare with the newest/ }).click();
  await page.locator('.cm-deletedChunk').getByText('theirs').waitFor();
  await page.getByRole('button', { name: /^Save/ }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await client.get('/notes/a')).body.text, 'mine too');
  admin.assertNoTrouble();
});

test('a conflict shows both sides and is resolved; history compares revisions', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/notes');
  const revisions = (id: string) => ({ start: 2, ids: [id, 'first'] });
  const docs = [
    { _id: 'a', _rev: '1-first', side: 'base' },
    { _id: 'a', _rev: '2-left', _revisions: revisions('left'), side: 'left' },
    { _id: 'a', _rev: '2-right', _revisions: revisions('right'), side: 'right' },
  ];
  await client.post('/notes/_bulk_docs', { new_edits: false, docs });
  await admin.go('db/notes/doc/a?tab=conflicts');
  await page.getByLabel('Left revision').getByText('right').first().waitFor();
  await page.getByRole('button', { name: 'Take the right side' }).click();
  await page.getByRole('button', { name: /Save, and delete 1 other revision/ }).click();
  await page.getByText('This document has no conflicts.').waitFor();
  const { body } = await client.get('/notes/a?conflicts=true');
  assert.equal(body.side, 'left');
  assert.equal(body._conflicts, undefined);
  await page.getByRole('link', { name: /History/ }).click();
  await page.getByRole('button', { name: /Compare 2-right/ }).click();
  await page.getByLabel('Right revision').getByText('left').first().waitFor();
  admin.assertNoTrouble();
});

test('attachments are dropped, previewed and deleted', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/notes');
  await client.put('/notes/a', {});
  await admin.go('db/notes/doc/a?tab=attachments');
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await page.getByLabel(/Drop files here/).setInputFiles([
    { name: 'pixel.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
    { name: '<b>note</b>.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') },
  ]);
  const image = page.getByAltText('Preview of pixel.png');
  await image.waitFor();
  await page.waitForFunction(() => {
    const found = (
      globalThis as unknown as { document: { querySelector: (s: string) => { naturalWidth: number } | null } }
    ).document.querySelector('.thumbnail');
    return found?.naturalWidth === 1;
  });
  await page.getByRole('link', { name: '<b>note</b>.txt' }).waitFor();
  const attachments = (await client.get('/notes/a')).body._attachments;
  assert.deepEqual(Object.keys(attachments).sort(), ['<b>note</b>.txt', 'pixel.png']);
  // Dropped by the mouse: the browser gives the files to the page in an event.
  await page.locator('.drop').evaluate((drop) => {
    const { DataTransfer, File, DragEvent } = globalThis as unknown as Record<
      string,
      new (...args: unknown[]) => never
    >;
    const files = new DataTransfer!() as unknown as { items: { add: (file: unknown) => void } };
    files.items.add(new File!(['dropped'], 'dropped.txt', { type: 'text/plain' }));
    drop.dispatchEvent(new DragEvent!('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
  });
  await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
  await page.getByTitle('Delete dropped.txt').click();
  await page.getByText('Attachment deleted.').waitFor();
  assert.equal((await client.get('/notes/a')).body._attachments['dropped.txt'], undefined);
  admin.assertNoTrouble();
});

test(
  'documents are listed, jumped to, shown as JSON, deleted together, exported and imported',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await client.put('/notes');
    const docs = Array.from({ length: 3000 }, (_, at) => ({
      _id: `n${String(at).padStart(5, '0')}`,
      at,
      city: 'Oslo',
    }));
    await client.post('/notes/_bulk_docs', { docs });
    await client.send('PUT', '/notes/exact', { raw: '{"big":12345678901234567890}' });
    await admin.go('db/notes');
    await page.getByText('3,001 documents').waitFor();
    await page.getByRole('columnheader', { name: 'city' }).waitFor();
    await page.getByLabel('Jump to id').fill('n02500');
    await page.getByRole('link', { name: 'n02500' }).waitFor();
    await page.getByRole('button', { name: 'JSON' }).click();
    await page.getByText('"at": 2500').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();

    await page.getByLabel('Select n02500').check();
    await page.getByLabel('Select n02501').check();
    await page.getByRole('button', { name: 'Delete 2 selected' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2,999 documents').waitFor();
    assert.equal((await client.get('/notes/n02501')).status, 404);

    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    const file = path.join(folder, 'notes.jsonl');
    await (await downloading).saveAs(file);
    const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
    assert.equal(lines.length, 2999);
    assert.ok(lines.some((line) => line.includes('12345678901234567890')));

    await client.put('/copy');
    await client.put('/copy/n00000', { mine: true });
    await admin.go('db/copy?dialog=import');
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByText('2,998 documents saved, 1 refused.').waitFor();
    await page.getByRole('region', { name: 'Refused documents' }).getByText('n00000').waitFor();
    assert.match((await client.get('/copy/exact')).text, /12345678901234567890/);
    admin.assertNoTrouble();
  },
);
