import type { RandomSource } from './source.js';

const maps = [
  'function (doc) { emit(doc.n, doc.s); }',
  'function (doc) { emit(doc._id, doc.n); }',
  'function (doc) { for (var i in doc.tags || []) emit(doc.tags[i], 1); }',
  'function (doc) { emit([doc.s, doc.n], null); emit([doc.s, doc.n], 1); }',
  'function (doc) { if (doc._attachments) emit(Object.keys(doc._attachments), 2); }',
  'function (doc) { emit(doc.v, {_id: "a"}); }',
  'function (doc) { doc.n = 7; emit(doc.n, doc.n); }',
  'function (doc) { throw "no"; }',
  'function (doc) { emit(null, doc._conflicts); }',
  'function (doc) { emit(doc.nested, doc._rev.slice(0, 2)); }',
  'doc => emit(typeof doc.n, 1)',
];
const reduces = [
  undefined,
  undefined,
  '_count',
  '_sum',
  '_stats',
  '_approx_count_distinct',
  'function (keys, values, rereduce) { return rereduce ? sum(values) : values.length; }',
];

/** A design document with one to three views, and sometimes a validation function. */
export function randomDesign(random: RandomSource): Record<string, unknown> {
  const names = ['v', 'w', 'x'].slice(0, 1 + random.below(3));
  const views = Object.fromEntries(
    names.map((name) => {
      const reduce = random.pick(reduces);
      return [name, { map: random.pick(maps), ...(reduce === undefined ? {} : { reduce }) }];
    }),
  );
  const design: Record<string, unknown> = { views };
  if (random.chance(0.15))
    design['validate_doc_update'] =
      'function (doc, old, user) { if (doc.v === 3) throw {forbidden: "three"}; }';
  if (random.chance(0.1)) design['options'] = { include_design: random.chance(0.5), local_seq: true };
  return design;
}
