import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes, toBytes } from '../../src/base/bytes.js';
import type { ListHead } from '../../src/script/script-host.js';
import { mapped, newHost } from './scene.js';

const { host } = newHost({ timeoutMs: () => 1_000 });

interface Listed {
  head?: ListHead;
  text: string;
}

let made = 0;

/** Runs a list function over batches of rows. */
async function list(
  source: string,
  batches: (unknown[] | Error)[],
  {
    request = {},
    write = () => Promise.resolve(true),
  }: { request?: object; write?: () => Promise<boolean> } = {},
): Promise<Listed> {
  const listed: Listed = { text: '' };
  const json = asBytes(JSON.stringify({ lists: { l: source }, tail: '.' }));
  const rows = batches[Symbol.iterator]();
  await host.list(
    'db',
    { id: `list ${made++}`, json },
    ['lists', 'l'],
    { head: asBytes('{"total_rows":3}'), request: asBytes(JSON.stringify(request)) },
    {
      next: () => {
        const { value } = rows.next();
        if (value instanceof Error) return Promise.reject(value);
        return Promise.resolve(value === undefined ? undefined : toBytes(JSON.stringify(value)));
      },
    },
    {
      start: (head) => {
        assert.equal(listed.head, undefined);
        listed.head = head;
      },
      write: (text) => {
        listed.text += text;
        return write();
      },
    },
  );
  return listed;
}

describe('list functions', () => {
  test('pull rows and send text', async () => {
    const source = `function(head, req){ start({code: 203, headers: {'X-A': head.total_rows}}); var row;
      while (row = getRow()) send(row.key + ':' + row.value + ' '); return this.tail }`;
    const batches = [
      [
        { key: 1, value: 'é' },
        { key: 2, value: 'y' },
      ],
      [{ key: 3, value: 'z' }],
    ];
    assert.deepEqual(await list(source, batches), {
      head: { code: 203, headers: { 'X-A': 3 } },
      text: '1:é 2:y 3:z .',
    });
  });

  test('need neither rows nor words', async () => {
    assert.deepEqual(await list('function(){ return "fixed" }', [[{}]]), {
      head: { headers: {} },
      text: 'fixed',
    });
    assert.deepEqual(await list('function(){}', []), { head: { headers: {} }, text: '' });
    assert.equal((await list('function(){ return toJSON([getRow(), getRow()]) }', [])).text, '[null,null]');
  });

  test('provide what the request accepts', async () => {
    const source = `function(){ provides('html', function(){ while (getRow()) send('<p>'); return '!' });
      provides('json', function(){ return '{}' }) }`;
    assert.deepEqual(await list(source, [[1, 2]], { request: { headers: { Accept: 'text/html' } } }), {
      head: { headers: { 'Content-Type': 'text/html; charset=utf-8' } },
      text: '<p><p>!',
    });
  });

  test('fail by their names', async () => {
    await assert.rejects(list('function(){ throw ["error", "teapot", "short"] }', []), {
      error: 'teapot',
      reason: 'short',
    });
    await assert.rejects(list('function(', []), { error: 'compilation_error' });
    await assert.rejects(list('function(){ getRow(); for (;;); }', [[1]]), { error: 'os_process_error' });
  });

  test('end when their rows fail or nobody listens', async () => {
    await assert.rejects(list('function(){ while (getRow()); }', [[1], new Error('no rows')]), /no rows/);
    let writes = 0;
    const endless = 'function(){ for (;;) { getRow(); send("x") } }';
    const batches = Array.from({ length: 100 }, () => [1]);
    await assert.rejects(list(endless, batches, { write: () => Promise.resolve(++writes < 3) }));
    assert.equal(writes, 3);
  });

  test('may wait for rows and listeners longer than a call may take', async () => {
    const pause = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 1_300));
    const listed = await list('function(){ getRow(); send("a"); getRow(); return "b" }', [[1]], {
      write: pause,
    });
    assert.equal(listed.text, 'ab');
  });

  test('that wait for their clients keep nobody else waiting', async () => {
    let hold = true;
    const slow = async () => {
      while (hold) await new Promise((resolve) => setTimeout(resolve, 20));
      return true;
    };
    const lists = Array.from({ length: 6 }, () =>
      list('function(){ send("x"); getRow() }', [], { write: slow }),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const rows = await mapped(host, ['function(doc){ emit(doc._id) }'], [{ _id: 'a' }]);
    hold = false;
    assert.deepEqual(rows, [[[['a', null]]]]);
    for (const { text } of await Promise.all(lists)) assert.equal(text, 'x');
  });
});
