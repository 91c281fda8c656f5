import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.js';

test('letters put in, taken out, replaced and swapped are forgiven, one in a short word', () => {
  for (const word of ['port', 'prot', 'por', 'ports', 'part', 'PORT'])
    assert.equal(nearest(word, ['port']), 'port');
  for (const word of ['past', 'prots', 'po', '']) assert.equal(nearest(word, ['port']), undefined, word);
  assert.equal(nearest('prot', ['pr', 'port', 'part']), 'port');
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
