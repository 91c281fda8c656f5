import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../support/admin-page.js';
import { missingBrowser } from '../support/browser.js';

const skip = missingBrowser() ?? false;

test('a server without its system databases is set up from the page', { skip }, async (t) => {
  const admin = await openAdmin(t, { server: { config: { tuffet: { auto_setup: 'false' } } } });
  await admin.page.getByText('This server is not set up yet').waitFor();
  await admin.page.getByRole('button', { name: 'Set up' }).click();
  await admin.page.getByRole('link', { name: '_users' }).waitFor();
  assert.equal((await admin.client.get('/_users')).status, 200);
  admin.assertNoTrouble();
});

test(
  'a password is changed, a session that ends asks again and loses nothing, log out',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await client.put('/notes');
    await client.put('/_users/org.couchdb.user:ada', {
      name: 'ada',
      type: 'user',
      roles: ['editors'],
      password: 'old',
    });
    await admin.go('account');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill('old');
    await page.getByRole('button', { name: 'Log in' }).click();
    // The session is there.
    await page.getByText('Roles: editors').waitFor();
    // Users may not list databases, and open theirs by name.
    await admin.go('');
    await page.getByLabel('Name').fill('notes');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('No documents yet').waitFor();
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByText('Roles: editors').waitFor();

    await admin.go('db/notes/new');
    await admin.type('Document as JSON', () => '{"_id": "kept", "text": "typed before the session ended"}');
    await client.put('/notes/_security', {
      members: { names: ['ada'], roles: [] },
      admins: { names: [], roles: [] },
    });
    await page.context().clearCookies();
    await page.getByRole('button', { name: /^Create/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('old');
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Create/ }).click();
    await page.getByText('Saved.').waitFor();
    assert.equal((await client.get('/notes/kept')).body.text, 'typed before the session ended');
    admin.assertNoTrouble();
  },
);

test('a server admin changes the own password', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await admin.go('account');
  await page.getByLabel('New password', { exact: true }).fill('fresh');
  await page.getByLabel('New password again').fill('other');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('The two passwords are not the same.').waitFor();
  await page.getByLabel('New password again').fill('fresh');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText(/^Password changed/).waitFor();
  assert.equal((await client.as('admin:fresh').get('/_all_dbs')).status, 200);
  await page.reload();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  admin.assertNoTrouble();
});

test('a replication is created, shows its progress and its errors, and is cancelled', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await client.put('/from');
  await client.post('/from/_bulk_docs', { docs: [{ _id: 'a' }, { _id: 'b' }] });
  await admin.go('replication');
  await page.getByText('No replications.').waitFor();
  const fill = async (id: string, from: string): Promise<void> => {
    await page.getByRole('button', { name: 'New replication' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From', { exact: true }).fill(from);
    await dialog.getByLabel('From: password').fill('secret');
    await dialog.getByLabel('To', { exact: true }).fill('to');
    await dialog.getByLabel('To: password').fill('secret');
    await dialog.getByLabel('Create the target if it is missing').check();
    await dialog.getByLabel('Name', { exact: true }).fill(id);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await fill('copy', 'from');
  await page.getByRole('row', { name: /copy.*running.*2 written, 0 to go/ }).waitFor();
  assert.equal((await client.get('/to')).body.doc_count, 2);
  await fill('lost', 'http://127.0.0.1:9/nothing');
  await page.getByRole('row', { name: /lost.*failed.*ECONNREFUSED/ }).waitFor({ timeout: 60_000 });
  await page.getByRole('row', { name: /lost/ }).getByRole('button', { name: 'History' }).click();
  await page.getByRole('dialog').getByText('crashed').first().waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByTitle('Cancel copy').click();
  await page.getByRole('row', { name: /copy/ }).waitFor({ state: 'detached' });
  admin.assertNoTrouble();
});

test('options have meanings, are found, changed, refused and undone', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  const option = '/_node/_local/_config/couchdb/max_document_size';
  await admin.go('config');
  await page.getByLabel('Find options').fill('largest document');
  await page.getByText('Largest document body, in bytes').waitFor();
  const input = page.getByLabel('max_document_size');
  await input.fill('many');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('bad_request').waitFor();
  await input.fill('1000');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Changed since you came here' }).waitFor();
  assert.equal((await client.get(option)).body, '1000');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { name: 'Changed since you came here' }).waitFor({ state: 'detached' });
  assert.equal((await client.get(option)).body, '8000000');
  admin.assertNoTrouble();
});

test('users and admins are added, changed and deleted', { skip }, async (t) => {
  const admin = await openAdmin(t);
  const { page, client } = admin;
  await admin.go('users');
  await page.getByRole('button', { name: 'Add user' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('ada');
  await page.getByRole('dialog').getByLabel('Password').fill('pw');
  await page.getByRole('dialog').getByLabel('Roles').fill('editors, readers');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('editors, readers').waitFor();
  assert.equal((await client.as('ada:pw').get('/_session')).body.userCtx.name, 'ada');
  await page.getByRole('button', { name: 'Edit ada' }).click();
  await page.getByRole('dialog').getByLabel('Roles').fill('readers');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('editors, readers').waitFor({ state: 'detached' });
  assert.deepEqual((await client.as('ada:pw').get('/_session')).body.userCtx.roles, ['readers']);
  await page.getByRole('button', { name: 'Delete ada' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No users.').waitFor();
  await page.getByRole('button', { name: 'Add admin' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('root');
  await page.getByRole('dialog').getByLabel('Password').fill('pw');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Delete root' }).waitFor();
  assert.equal((await client.as('root:pw').get('/_all_dbs')).status, 200);
  admin.assertNoTrouble();
});

test(
  'security is said in words, shards are drawn, charts and tasks show what goes on',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await client.put('/notes?q=4');
    await admin.go('db/notes/settings');
    await page.getByText('Everybody who reaches the server, even without a login.').first().waitFor();
    await page.getByLabel('Members: roles').fill('editors');
    await page.getByLabel('Admins: users').fill('ada');
    await page.getByRole('button', { name: 'Save security' }).click();
    await page
      .getByText('Server admins, the user ada and everybody with the role editors.')
      .first()
      .waitFor();
    assert.deepEqual((await client.get('/notes/_security')).body.members.roles, ['editors']);
    assert.equal(await page.getByRole('list', { name: 'Shards' }).getByRole('listitem').count(), 4);
    await page.getByLabel('Where is a document?').fill('a');
    await page.getByRole('button', { name: 'Show its shard' }).click();
    await page.locator('.shards .found').waitFor();

    await admin.go('server');
    await page.getByRole('img', { name: /Requests a second: all [\d.]+/ }).waitFor();
    await page.getByRole('img', { name: /Memory: process [\d.]+ MB/ }).waitFor();
    await page.getByRole('img', { name: /Storage: on disk/ }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    await page.getByText('tuffet@127.0.0.1').waitFor();

    const own = client.urlWithCredentials;
    await client.put('/_replicator/copy', {
      source: `${own}/notes`,
      target: `${own}/other`,
      create_target: true,
      continuous: true,
    });
    await admin.go('tasks');
    await page.getByRole('row', { name: /Replication.*notes/ }).waitFor();
    admin.assertNoTrouble();
  },
);

test(
  'shards are split from the settings, and the jobs are stopped, resumed and removed',
  { skip },
  async (t) => {
    const admin = await openAdmin(t);
    const { page, client } = admin;
    await client.put('/many%2Fparts?q=2');
    await admin.go('server');
    await page.getByText('No shard was split.').waitFor();
    await page.getByRole('button', { name: 'Stop resharding' }).click();
    await page.getByText('Resharding is stopped').waitFor();
    await admin.go('db/many%2Fparts/settings');
    await page.getByLabel('Split in two').selectOption('00000000-7fffffff');
    await page.getByRole('button', { name: 'Split…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByRole('link', { name: 'All jobs' }).click();
    const jobs = page.getByRole('region', { name: 'Resharding jobs' });
    await jobs.getByText('stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume resharding' }).click();
    await jobs.getByText('completed', { exact: true }).waitFor();
    await jobs.getByRole('link', { name: 'many/parts' }).click();
    await page.getByText('3 ranges of hashes').waitFor();
    await page.getByRole('button', { name: 'Split…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText('6 ranges of hashes').waitFor();
    await page.getByText('4 splits completed.').waitFor();
    assert.equal(Object.keys((await client.get('/many%2Fparts/_shards')).body.shards).length, 6);
    await page.getByRole('link', { name: 'All jobs' }).click();
    for (let left = 4; left > 0; left--) {
      await jobs
        .getByRole('button', { name: 'Remove' })
        .nth(left - 1)
        .waitFor();
      await jobs.getByRole('button', { name: 'Remove' }).first().click();
      if (left > 1)
        await jobs
          .getByRole('button', { name: 'Remove' })
          .nth(left - 1)
          .waitFor({ state: 'detached' });
    }
    await page.getByText('No shard was split.').waitFor();
    admin.assertNoTrouble();
  },
);
