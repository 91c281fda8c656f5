import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { createServer } from '../../src/server/create-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { launchBrowser } from './browser.js';
import { HttpClient } from './http-client.js';

/** For a slow and busy machine. */
const waitMs = 30_000;

export interface AdminOptions {
  isLoggedIn?: boolean;
  server?: ServerOptions;
  viewport?: { width: number; height: number };
}

/** The admin page in a browser, before a server of the test's own. */
export interface AdminPage {
  url: string;
  page: Page;
  /** For what the test prepares and checks behind the page's back. */
  client: HttpClient;
  /** Opens the page of a path such as `db/orders/find`. */
  go: (path: string) => Promise<void>;
  /** Replaces the text of an editor. */
  type: (label: string, change: (text: string) => string) => Promise<void>;
  textOf: (label: string) => Promise<string>;
  /** Neither exceptions, nor requests to others, nor anything that the content security policy refused. */
  assertNoTrouble: () => void;
}

export async function openAdmin(t: TestContext, options: AdminOptions = {}): Promise<AdminPage> {
  const server = await createServer({
    inMemory: true,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    ...options.server,
    config: { chttpd_auth: { iterations: '100' }, ...options.server?.config },
  });
  t.after(() => server.close());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage(options.viewport ? { viewport: options.viewport } : {});
  page.setDefaultTimeout(waitMs);
  const trouble = watch(page, server.url);
  const url = `${server.url}/_utils/`;
  const admin: AdminPage = {
    url,
    page,
    client: new HttpClient(server.url),
    go: async (path) => {
      await page.goto(`${url}#/${path}`);
    },
    textOf: (label) =>
      page.getByLabel(label).evaluate((content) => (content as { innerText: string }).innerText),
    type: (label, change) => typeInto(page, label, change),
    assertNoTrouble: () => assert.deepEqual(trouble, []),
  };
  if (options.isLoggedIn ?? true) await logIn(page, url);
  return admin;
}

async function logIn(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Name').fill('admin');
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** By the keyboard, as people do: select all, delete, then the text in one piece. */
async function typeInto(page: Page, label: string, change: (text: string) => string): Promise<void> {
  const editor = page.getByLabel(label);
  await editor.waitFor();
  const before = await editor.evaluate((content) => (content as { innerText: string }).innerText);
  await editor.press('ControlOrMeta+a');
  await editor.press('Delete');
  await page.keyboard.insertText(change(before));
}

function watch(page: Page, origin: string): string[] {
  const trouble: string[] = [];
  page.on('pageerror', (error) => trouble.push(error.message));
  page.on('dialog', (dialog) => {
    trouble.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) trouble.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) trouble.push(`a request to ${url}`);
  });
  return trouble;
}
