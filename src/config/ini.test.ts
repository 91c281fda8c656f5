import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIni, parseIni, replaceInIni } from './ini.js';

test('files are read as CouchDB reads them', () => {
  const text =
    '\uFEFF; comment\r\n[ one ] ; named\r\na = x#y;z ; comment\r\n b=2\r\n# c = 3\r\nlist = [1,\r\n  2, 3]\r\n\r\n[two.three]\r\nd=\r\ne = f = g\r\n=nameless\r\n[one]\r\nb = 4\r\ngone\r\n';
  const plain = [...parseIni(text)].map(([name, keys]) => [name, [...keys]]);
  assert.deepEqual(plain, [
    [
      'one',
      [
        ['a', 'x#y;z'],
        ['b', '4'],
        ['list', '[1, 2, 3]'],
        ['gone', null],
      ],
    ],
    [
      'two.three',
      [
        ['d', ''],
        ['e', 'f = g'],
      ],
    ],
  ]);
  assert.deepEqual(parseIni(formatIni(parseIni(text))), parseIni(text));
});

test('replacing one value leaves the rest of the file byte for byte', () => {
  const text = '; mine\r\n[admins]\r\nann = secret ; hers\r\nbob = other\r\n\r\n[x]\r\nann = no\r\n';
  assert.equal(
    replaceInIni(text, 'admins', 'ann', '-pbkdf2-1,2,3'),
    text.replace('ann = secret ; hers', 'ann = -pbkdf2-1,2,3'),
  );
});

test('a value that goes over several lines is replaced as a whole', () => {
  const text = '[admins]\nann = a\n  b\nbob = c';
  assert.equal(replaceInIni(text, 'admins', 'ann', 'x ; y'), '[admins]\nann = "x ; y"\nbob = c');
});
