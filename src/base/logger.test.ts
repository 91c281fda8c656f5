import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from './logger.js';

function lines(): { write(line: string): void; text: string } {
  return {
    text: '',
    write(line) {
      this.text += line;
    },
  };
}

test('text lines are readable, and a message cannot forge a line', () => {
  const destination = lines();
  const log = createLogger({ destination, level: 'info' });
  log.info({ port: 5984, path: '/a b', nested: { a: 1 } }, 'started\n2026 INFO forged');
  assert.match(
    destination.text,
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO {3}started\\n2026 INFO forged port=5984 path="\/a b" nested=\{"a":1\}\n$/,
  );
});

test('an error is shown with its stack', () => {
  const destination = lines();
  createLogger({ destination }).error({ err: new Error('boom') }, 'failed');
  assert.match(destination.text, /ERROR {2}failed\n {4}Error: boom\n {8}at /);
});

test('every line of a message has the head where lines stand for themselves', () => {
  const destination = { ...lines(), head: () => '<3>', headsLines: true };
  createLogger({ destination }).error({ err: new Error('boom') }, 'failed');
  for (const line of destination.text.trimEnd().split('\n')) assert.match(line, /^<3>/);
});

test('json lines are JSON', () => {
  const destination = lines();
  createLogger({ destination, format: 'json' }).warn({ a: 1 }, 'careful');
  const { time, ...rest } = JSON.parse(destination.text) as Record<string, unknown>;
  assert.deepEqual(rest, { level: 40, a: 1, msg: 'careful' });
  assert.match(String(time), /^\d{4}-/);
});

test('the level has the names of CouchDB and can change', () => {
  const destination = lines();
  const log = createLogger({ destination, level: 'warning' });
  assert.equal(log.isLevelEnabled('info'), false);
  log.info({}, 'hidden');
  log.setLevel('notice');
  log.info({}, 'hidden');
  log.notice({}, 'shown');
  log.setLevel('none');
  log.error({}, 'hidden');
  assert.match(destination.text, /shown/);
  assert.doesNotMatch(destination.text, /hidden/);
});
