import type { ValueKind } from './request.js';

/** A value that a parameter is tried with. */
export interface Trial {
  /** What stands behind the parameter's name, `=` included, percent-encoded. */
  text: string;
  kind: ValueKind;
}

/** What a parameter takes: a type of values, or one of some words. */
export type ParameterType = keyof typeof trialsByType | readonly string[];

const encoded = (kind: ValueKind, ...values: string[]): Trial[] =>
  values.map((value) => ({ kind, text: `=${encodeURIComponent(value)}` }));

const empty: Trial[] = [
  { kind: 'empty', text: '=' },
  { kind: 'empty', text: '' },
];

const trialsByType = {
  json: [
    ...encoded('right', '"b"', '2', 'null', '{}', '["a"]', 'true', '{"a":[1]}', '""', '[2]', '[2,{}]'),
    ...encoded('malformed', 'b', '"b', '[', '{"a"', '"\\ud800"', '1e999', "'b'", '01', 'nul'),
    ...empty,
  ],
  key: [
    ...encoded('right', '"b"', '"c"', '"zz"', '""', '"_design/fun"', '"gone"'),
    ...encoded('wrong type', '2', 'null', '{}', '["a"]', 'true'),
    ...encoded('malformed', 'b', '"b', '[', '"\\ud800"'),
    ...empty,
  ],
  boolean: [
    ...encoded('right', 'true', 'false'),
    ...encoded('wrong type', '1', '0', '"true"', 'null', 'TRUE', 'False', 'yes', ' true', '[]'),
    ...empty,
  ],
  number: [
    ...encoded('right', '2', '0', '1', '3', '00002', '+2'),
    ...encoded('out of bounds', '-1', '99999999999999999999', '100000', '-99999999999999999999'),
    ...encoded('wrong type', '1.5', 'x', '"2"', 'null', 'true', '2x', ' 2', '1e2', '0x10', 'infinity'),
    ...empty,
  ],
  text: [
    ...encoded('right', 'a', 'b', 'ü', 'a b'),
    ...encoded('wrong type', '"a"', '1', 'null', '[]', '\u0000'),
    ...empty,
  ],
  rev: [
    ...encoded('right', '2-bb', '2-cc', '3-dd', '1-aa'),
    ...encoded('out of bounds', '9-bb', '0-bb', '2-zz', '1-00000000000000000000000000000000'),
    ...encoded(
      'malformed',
      'bb',
      '2',
      '2-',
      '-bb',
      'x-bb',
      '"2-bb"',
      '2-bb-cc',
      '02-bb',
      '2 -bb',
      'all',
      '[]',
      'null',
    ),
    ...empty,
  ],
  keys: [
    ...encoded('right', '["a","c"]', '["c","a","a"]', '[]', '["a"]', '["nope","b","gone"]', '[3,null]'),
    ...encoded('wrong type', '"a"', '{}', '1', 'null', '[1,null,{}]', '[["a"]]'),
    ...encoded('malformed', '[', '["a"', 'a'),
    ...empty,
  ],
} satisfies Record<string, Trial[]>;

/** Every value that a parameter is tried with, the last time twice. */
export function trials(name: string, type: ParameterType): Trial[] {
  const single = typeof type === 'string' ? trialsByType[type] : wordTrials(type);
  const [first = '=1', second = first] = single
    .filter(({ kind }) => kind === 'right')
    .map(({ text }) => text);
  return [...single, { kind: 'twice', text: `${first}&${name}${second}` }];
}

function wordTrials(words: readonly string[]): Trial[] {
  const wrong = ['x', '1', 'null', 'true', `"${words[0]}"`, words[0]!.toUpperCase()];
  return [...encoded('right', ...words), ...encoded('wrong type', ...wrong), ...empty];
}

interface MemberTrial {
  value: unknown;
  kind: ValueKind;
}

/** What a member of a JSON body is tried with: which of these are right depends on the member. */
export const memberTrials: readonly MemberTrial[] = [
  ...[true, false, 2, 1, 'a', ['a'], {}].map((value) => ({ value, kind: 'right' as const })),
  ...[null, 1.5, 'true', '2', ['a', 1], [[]], [{}], { a: 1 }].map((value) => ({
    value,
    kind: 'wrong type' as const,
  })),
  ...[0, -1, 1e20].map((value) => ({ value, kind: 'out of bounds' as const })),
  ...['', []].map((value) => ({ value, kind: 'empty' as const })),
];

/** Bodies that are not what any endpoint expects. */
export const wrongBodies: readonly string[] = [
  '',
  ' ',
  '{',
  '{}x',
  '[]',
  'null',
  '1',
  '"a"',
  '{"a":1,}',
  '{"_id":1}',
  '\u00ff',
  '{"a":"\\ud800"}',
  "{'a':1}",
];
