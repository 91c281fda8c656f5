import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerDifferences } from './answer-differences.js';
import { canonicalAnswer } from './canonical.js';
import { isIntended } from './intended.js';

test('a difference is intended for the member of an attachment of any name, but only for the value that is told', () => {
  const request = { endpoint: 'GET /{db}/{docid}', method: 'GET', path: '/{db}/a' };
  const member = 'body._attachments.in.txt.revpos';
  assert.equal(isIntended(request, { member, reference: 1, subject: 3 }), true);
  assert.equal(isIntended(request, { member, reference: 2, subject: 3 }), false);
  const length = 'body._attachments.in.txt.length';
  assert.equal(isIntended(request, { member: length, reference: 1, subject: 3 }), false);
});

test('lists of other documents differ as a whole', () => {
  const docs = (...ids: string[]) => ids.map((_id, n) => ({ _id, n }));
  const members = (...lists: [unknown, unknown]): string[] => {
    const [there, here] = lists.map((list) => ({ status: 200, headers: {}, body: { docs: list } }));
    return answerDifferences(there!, here!).map(({ member }) => member);
  };
  assert.deepEqual(members(docs('a', 'b'), docs('b', 'c')), ['body.docs']);
  assert.deepEqual(members(docs('a'), [{ _id: 'a', n: 5 }]), ['body.docs[].n']);
});

const bodyOf = (body: unknown): unknown =>
  canonicalAnswer({ status: 200, headers: {}, text: JSON.stringify(body) }, 'db').body;

test('the leaves of a document are compared in one order, rows and lists of answers in theirs', () => {
  const made = { ok: { _id: 'a', _rev: `1-${'a'.repeat(32)}`, v: 1 } };
  const given = { ok: { _id: 'a', _rev: '1-bb' } };
  const answer = (...docs: unknown[]): unknown => bodyOf({ results: [{ id: 'a', docs }] });
  assert.deepEqual(answer(made, given), answer(given, made));
  assert.notDeepEqual(answer(made), answer(given));
  const changes = (...revs: string[]): unknown =>
    bodyOf({ results: [{ id: 'a', changes: revs.map((rev) => ({ rev })) }] });
  assert.deepEqual(changes(made.ok._rev, '1-bb'), changes('1-bb', made.ok._rev));
  assert.notDeepEqual(changes('1-aa', '1-bb'), changes('1-bb', '1-aa'));
  const saved = [
    { ok: true, id: 'a' },
    { ok: true, id: 'b' },
  ];
  assert.notDeepEqual(bodyOf(saved), bodyOf(saved.toReversed()));
});

test('of the warnings of a query, that much was read is not compared', () => {
  const warning = 'No matching index found.';
  const scan = 'The number of documents examined is high in proportion to the number of results returned.';
  assert.deepEqual(bodyOf({ warning: `${warning}\n${scan}` }), bodyOf({ warning }));
  assert.notDeepEqual(bodyOf({ warning: scan }), bodyOf({ warning }));
});
