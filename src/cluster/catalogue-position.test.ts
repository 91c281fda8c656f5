import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CataloguePosition } from './catalogue-position.js';

test('a stream goes on when the catalogue has got to where its message builds on', async () => {
  const catalogue = new CataloguePosition(2);
  await catalogue.when(2);
  let isThere = false;
  const waiting = catalogue.when(4).then(() => (isThere = true));
  catalogue.advance(3);
  await catalogue.when(3);
  assert.equal(isThere, false);
  catalogue.advance(4);
  await waiting;
  assert.equal(catalogue.current, 4);
});

test('a catalogue that gets no further keeps no stream waiting', async () => {
  const catalogue = new CataloguePosition(2);
  const waiting = catalogue.when(3);
  catalogue.end(new Error('trimmed'));
  await assert.rejects(waiting, /trimmed/);
  await assert.rejects(catalogue.when(4), /trimmed/);
  await catalogue.when(2);
});
