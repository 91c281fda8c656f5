import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import { Config } from '../config/config.js';
import { Lockout } from './lockout.js';

const logger = createLogger({ level: 'none', format: 'text' });
const locked = { error: 'forbidden' };

function lockoutOf(options: Record<string, string>) {
  const config = new Config({ overrides: { chttpd_auth_lockout: options } });
  const clock = { ms: 1_000_000 };
  const runtime = Object.assign(new SystemRuntime(), { now: () => clock.ms });
  return { config, clock, lockout: new Lockout(config, logger, runtime) };
}

function fail(lockout: Lockout, times: number, sender = 'here', name = 'ann'): void {
  for (let i = 0; i < times; i++) lockout.failed(sender, name);
}

test('the fifth failure locks a name for its sender, and for no other', () => {
  const { lockout } = lockoutOf({});
  fail(lockout, 4);
  lockout.check('here', 'ann');
  fail(lockout, 1);
  assert.throws(() => lockout.check('here', 'ann'), locked);
  lockout.check('elsewhere', 'ann');
  lockout.check('here', 'bob');
  lockout.check('here', 'Ann');
});

test('the lock opens a while after the first failure', () => {
  const { lockout, clock } = lockoutOf({ max_lifetime: '1000' });
  fail(lockout, 3);
  clock.ms += 900;
  fail(lockout, 2);
  assert.throws(() => lockout.check('here', 'ann'), locked);
  clock.ms += 100;
  lockout.check('here', 'ann');
  fail(lockout, 4);
  lockout.check('here', 'ann');
});

test('in warn mode and when off, no login is locked out', () => {
  for (const mode of ['warn', 'off']) {
    const { lockout } = lockoutOf({ mode });
    fail(lockout, 10);
    lockout.check('here', 'ann');
  }
});

test('the failures remembered are bounded', () => {
  const { lockout } = lockoutOf({ max_objects: '3' });
  fail(lockout, 5);
  for (const name of ['a', 'b', 'c']) fail(lockout, 1, 'here', name);
  lockout.check('here', 'ann');
});
