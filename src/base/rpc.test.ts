import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { FunctionError, notFound, RequestError, Unavailable } from './errors.js';
import { RpcThread } from './rpc-thread.js';
import { Rpc, Transferred, type Handler } from './rpc.js';

/** Two ends, the second of which serves calls. */
function connect(handle: Handler<unknown>): { rpc: Rpc<unknown, unknown, unknown>; close: () => void } {
  const { port1, port2 } = new MessageChannel();
  const rpc = new Rpc<unknown, unknown, unknown>(port1);
  const other = new Rpc<unknown, unknown, unknown, unknown>(port2, handle);
  port1.on('message', (message) => rpc.receive(message));
  port2.on('message', (message) => other.receive(message));
  return { rpc, close: () => port1.close() };
}

test('calls are answered by their numbers, in whatever order the answers come', async () => {
  const waiting: ((value: string) => void)[] = [];
  const { rpc, close } = connect((asked) =>
    asked === 'now' ? 'now' : new Promise((resolve) => waiting.push(resolve)),
  );
  const [first, second] = [rpc.call('later'), rpc.call('later')];
  assert.equal(await rpc.call('now'), 'now');
  assert.equal(rpc.pending, 2);
  waiting[1]!('second');
  assert.equal(await second, 'second');
  waiting[0]!('first');
  await rpc.whenIdle();
  assert.equal(await first, 'first');
  close();
});

test('notes reach the call they belong to before its answer', async () => {
  const { rpc, close } = connect((asked, note) => {
    note(`half of ${String(asked)}`);
    return 'all';
  });
  const notes: unknown[] = [];
  const answers = await Promise.all(
    ['a', 'b'].map((name) => rpc.call(name, { onNote: (n) => notes.push(n) })),
  );
  assert.deepEqual(notes, ['half of a', 'half of b']);
  assert.deepEqual(answers, ['all', 'all']);
  close();
});

test('errors keep their class, reason and code', async () => {
  const errors: Record<string, unknown> = {
    missing: notFound('missing'),
    later: new Unavailable('The server is busy.'),
    chosen: new FunctionError('own_name', { any: 'value' }),
    disk: Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }),
    text: 'not an error',
  };
  const { rpc, close } = connect((asked) => {
    throw errors[asked as string];
  });
  await assert.rejects(
    rpc.call('missing'),
    (error) => error instanceof RequestError && error.reason === 'missing',
  );
  await assert.rejects(rpc.call('later'), Unavailable);
  await assert.rejects(rpc.call('chosen'), { error: 'own_name', value: { any: 'value' } });
  await assert.rejects(rpc.call('disk'), { message: 'no space left on device', code: 'ENOSPC' });
  await assert.rejects(rpc.call('text'), { message: 'not an error' });
  close();
});

test('buffers are moved with a call and with its answer', async () => {
  const { rpc, close } = connect((asked) => new Transferred(asked, [asked as ArrayBuffer]));
  const buffer = new ArrayBuffer(100);
  const answer = rpc.call(buffer, { transfer: [buffer] });
  assert.equal(buffer.byteLength, 0);
  assert.equal(((await answer) as ArrayBuffer).byteLength, 100);
  close();
});

test('what cannot be sent fails its own call only', async () => {
  const { rpc, close } = connect((asked) => (asked === 'function' ? () => undefined : asked));
  await assert.rejects(
    rpc.call(() => undefined),
    { name: 'DataCloneError' },
  );
  await assert.rejects(rpc.call('function'), /could not be cloned/);
  assert.equal(rpc.pending, 0);
  assert.equal(await rpc.call('fine'), 'fine');
  close();
});

/** A thread that echoes, asks its starter, breaks or never answers. */
function startThread(onEnd: (error: Error) => void): RpcThread<string, string, never, string> {
  const source = `
    import { parentPort } from 'node:worker_threads';
    import { Rpc } from ${JSON.stringify(new URL('./rpc.js', import.meta.url).href)};
    const rpc = new Rpc(parentPort, (asked) => {
      if (asked === 'break') setImmediate(() => { throw new Error('broken'); });
      if (asked === 'break' || asked === 'wait') return new Promise(() => undefined);
      return asked === 'ask' ? rpc.call('question') : asked;
    });
    parentPort.on('message', (message) => rpc.receive(message));
  `;
  const module = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  return new RpcThread(module, { name: 'test', handle: (asked) => `answer to ${asked}`, onEnd });
}

test('a thread asks its starter while a call is under way', async () => {
  const thread = startThread(() => undefined);
  assert.equal(await thread.call('ask'), 'answer to question');
  assert.equal(await thread.call('echo'), 'echo');
  await thread.stop();
});

test('a thread that breaks rejects all calls, also later ones, and says so once', async () => {
  const ends: Error[] = [];
  const thread = startThread((error) => ends.push(error));
  const waiting = assert.rejects(thread.call('wait'), /the thread test has ended/);
  await assert.rejects(thread.call('break'), { cause: new Error('broken') });
  await waiting;
  await assert.rejects(thread.call('echo'), /has ended/);
  await thread.stop();
  assert.equal(ends.length, 1);
  assert.equal(thread.hasEnded, true);
  assert.equal(thread.pending, 0);
});

test('a thread that is stopped rejects what waits for it', async () => {
  const thread = startThread(() => undefined);
  const waiting = assert.rejects(thread.call('wait'), /has ended/);
  await thread.stop();
  await waiting;
});
