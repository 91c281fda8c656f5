import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Config } from './config.js';

test('names and values that could forge lines of a file are refused', () => {
  const config = new Config();
  for (const value of ['a\nb', 'a\rb', 'a\0b', 'x'.repeat(70_000)]) {
    assert.throws(() => config.set('s', 'k', value), {
      error: 'bad_request',
      reason: 'Invalid configuration value',
    });
  }
  for (const name of ['k[1]', 'k\n1', '', 'a]', 'x'.repeat(2000)]) {
    assert.throws(() => config.set('s', name, 'x'), {
      error: 'bad_request',
      reason: 'Invalid configuration key',
    });
    assert.throws(() => config.set(name, 'k', 'x'), {
      error: 'bad_request',
      reason: 'Invalid configuration section',
    });
  }
  assert.deepEqual(config.section('s'), {});
});

test('sections that name programs are closed to changes', () => {
  const config = new Config();
  const closed = { error: 'forbidden', reason: 'Config section blacklisted for modification over HTTP API.' };
  for (const section of [
    'native_query_servers',
    'query_servers',
    'daemons',
    'external',
    'os_daemons',
    'feature_flags',
  ]) {
    assert.throws(() => config.set(section, 'k', 'x'), closed);
    assert.throws(() => config.delete(section, 'k'), closed);
  }
});

test('values may have the letters of western Europe', () => {
  const config = new Config();
  config.set('s', 'k', 'grüße, ça va');
  assert.equal(config.get('s', 'k'), 'grüße, ça va');
  for (const value of ['日本', 'a\x80', 'a\x7f']) assert.throws(() => config.set('s', 'k', value));
});
