import { makeDocuments } from '../documents.js';
import type { Sample } from '../figures/figure.js';
import { answerEach, say, settings } from './child.js';
import { documentPrefix, openBare } from './lmdb.js';

/** Floor 8: all values of a store, read in order and parsed. */
const { folder, docs } = settings<{ folder: string; docs: number }>();
const db = openBare(folder);
await db.batch(() => {
  for (const { id, body } of makeDocuments(docs)) void db.put(documentPrefix + id, body);
});

function scan(): Promise<Sample> {
  const started = performance.now();
  let parsed = 0;
  for (const { value } of db.getRange({ start: documentPrefix }))
    if (typeof JSON.parse(value) === 'object') parsed++;
  return Promise.resolve({ units: parsed, seconds: (performance.now() - started) / 1000 });
}

answerEach(scan);
say('ready');
