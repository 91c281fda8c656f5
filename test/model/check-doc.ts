import assert from 'node:assert/strict';
import { fromBytes, type Bytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import type { Database } from '../../src/node/database.js';
import { docText } from '../../src/shard/doc-text.js';
import { openDoc, type DocOptions, type OpenedDoc } from '../../src/documents/open-doc.js';
import { openRevs } from '../support/open-revs.js';
import { keyOf, type DocModel, type Fact } from './doc-model.js';

/** Reads a document in every way there is and compares with the model. */
export function checkDoc(database: Database, id: Bytes, model: DocModel): void {
  const leaves = model.leaves();
  const [best, ...others] = leaves;
  if (best === undefined) {
    assert.equal(refusal(database, id, {}), 'missing');
    assert.equal(openRevs(database, id, 'all', {}), undefined);
    return;
  }
  if (best.deleted) assert.equal(refusal(database, id, {}), 'deleted');
  else checkWinner(database, id, model, best, others);
  const opened = openRevs(database, id, 'all', { revs: true })!.map((each) =>
    'ok' in each ? parsed(each.ok) : each,
  );
  assert.deepEqual(
    opened.sort(byRev),
    leaves.map((leaf) => ({ ...docOf(id, leaf), _revisions: revisions(database, model, leaf) })).sort(byRev),
  );
  for (const inner of model.inner()) {
    if (inner.body === undefined) assert.equal(refusal(database, id, { rev: inner }), 'missing');
    else assert.deepEqual(parsed(openDoc(database, id, { rev: inner })), docOf(id, inner));
  }
  assert.equal(refusal(database, id, { rev: { pos: 1, hash: 'never seen' } }), 'missing');
}

/** The order of leaves that are listed follows the branches, which the model does not know. */
const byRev = (a: object, b: object): number => (revOf(a) < revOf(b) ? -1 : 1);
const revOf = (doc: object): string => String((doc as { _rev?: unknown })._rev);

function checkWinner(database: Database, id: Bytes, model: DocModel, best: Fact, others: Fact[]): void {
  assert.deepEqual(parsed(openDoc(database, id, {})), docOf(id, best));
  const options = { revs: true, conflicts: true, deletedConflicts: true, revsInfo: true };
  const { _revs_info, ...doc } = parsed(openDoc(database, id, options));
  const conflicts = others.filter(({ deleted }) => !deleted).map(keyOf);
  const deletedConflicts = others.filter(({ deleted }) => deleted).map(keyOf);
  assert.deepEqual(doc, {
    ...docOf(id, best),
    _revisions: revisions(database, model, best),
    ...(conflicts.length === 0 ? {} : { _conflicts: conflicts }),
    ...(deletedConflicts.length === 0 ? {} : { _deleted_conflicts: deletedConflicts }),
  });
  const left = model.path(keyOf(best)).map((fact) => ({ rev: keyOf(fact), status: statusOf(fact) }));
  assert.deepEqual(_revs_info, left);
}

const statusOf = ({ body, deleted }: Fact): string =>
  body === undefined ? 'missing' : deleted ? 'deleted' : 'available';

const docOf = (id: Bytes, fact: Fact): Record<string, unknown> => ({
  _id: fromBytes(id),
  _rev: keyOf(fact),
  ...(JSON.parse(fact.body!) as object),
  ...(fact.deleted ? { _deleted: true } : {}),
});

function revisions(database: Database, model: DocModel, leaf: Fact): object {
  const path = model.path(keyOf(leaf)).slice(0, database.revsLimit);
  return { start: leaf.pos, ids: path.map(({ hash }) => hash) };
}

const parsed = ({ id, rev, content, extra }: OpenedDoc): Record<string, unknown> =>
  JSON.parse(fromBytes(docText(id, rev, content, extra))) as Record<string, unknown>;

/** The reason why a document is not to be had. */
function refusal(database: Database, id: Bytes, options: DocOptions): string {
  try {
    return `found: ${openDoc(database, id, options).content}`;
  } catch (error) {
    if (error instanceof RequestError && error.error === 'not_found') return error.reason;
    throw error;
  }
}
