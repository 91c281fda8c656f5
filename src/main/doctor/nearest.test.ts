import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance, nearest } from './nearest.js';

test('the distance counts letters put in, taken out, replaced and swapped', () => {
  assert.equal(editDistance('', ''), 0);
  assert.equal(editDistance('', 'abc'), 3);
  assert.equal(editDistance('port', 'port'), 0);
  assert.equal(editDistance('prot', 'port'), 1);
  assert.equal(editDistance('por', 'port'), 1);
  assert.equal(editDistance('ports', 'port'), 1);
  assert.equal(editDistance('past', 'port'), 2);
});

test('what is meant is near, and what is far is not meant', () => {
  const names = ['port', 'bind_address', 'require_valid_user', 'require_valid_user_except_for_up'];
  assert.equal(nearest('prot', names), 'port');
  assert.equal(nearest('bind_adress', names), 'bind_address');
  assert.equal(nearest('BindAddress', names), 'bind_address');
  assert.equal(nearest('require_valid_usr', names), 'require_valid_user');
  assert.equal(nearest('colour', names), undefined);
  assert.equal(nearest('x', []), undefined);
});
