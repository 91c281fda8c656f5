import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tokenOf, type TokenSettings } from './hotp.js';
import { readTotp, verifyToken } from './totp.js';

/** The keys of RFC 6238, appendix B, in base32: `1234567890…` as long as the digest. */
const keys = {
  sha: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  sha256: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====',
  sha512:
    'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA=',
} as const;

const vectors: Record<keyof typeof keys, Record<number, string>> = {
  sha: {
    59: '94287082',
    1111111109: '07081804',
    1111111111: '14050471',
    1234567890: '89005924',
    2000000000: '69279037',
    20000000000: '65353130',
  },
  sha256: {
    59: '46119246',
    1111111109: '68084774',
    1111111111: '67062674',
    1234567890: '91819424',
    2000000000: '90698825',
    20000000000: '77737706',
  },
  sha512: {
    59: '90693936',
    1111111109: '25091201',
    1111111111: '99943326',
    1234567890: '93441116',
    2000000000: '38618901',
    20000000000: '47863826',
  },
};

function totpOf(value: unknown): TokenSettings {
  const totp = readTotp(value);
  assert.ok(!('wrong' in totp), JSON.stringify(totp));
  return totp;
}

describe('Tokens', () => {
  for (const algorithm of ['sha', 'sha256', 'sha512'] as const) {
    test(`are those of RFC 6238 with ${algorithm}`, () => {
      const totp = totpOf({ key: keys[algorithm], algorithm, length: 8 });
      for (const [seconds, token] of Object.entries(vectors[algorithm])) {
        assert.equal(tokenOf(totp, Math.floor(Number(seconds) / 30)), token);
        assert.ok(verifyToken(totp, token, Number(seconds) * 1000));
      }
    });
  }

  test('have six digits and SHA-1 where nothing else is said', () => {
    const totp = totpOf({ key: keys.sha });
    assert.equal(tokenOf(totp, 1), '287082');
    assert.equal(tokenOf(totpOf({ key: keys.sha, length: 7 }), 1), '4287082');
    // RFC 4226, appendix D.
    assert.deepEqual(
      [0, 1, 9].map((step) => tokenOf(totp, step)),
      ['755224', '287082', '520489'],
    );
  });

  test('count one step before and behind, and no further', () => {
    const totp = totpOf({ key: keys.sha });
    const now = 1_700_000_010_000;
    const step = Math.floor(now / 30_000);
    for (const [at, counts] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const)
      assert.equal(verifyToken(totp, tokenOf(totp, step + at), now), counts, String(at));
  });

  test('of another form are refused', () => {
    const totp = totpOf({ key: keys.sha });
    for (const token of ['', '28708', '0287082', ' 287082', '287082 ', '２８７０８２', '-1', 'NaN'])
      assert.equal(verifyToken(totp, token, 59_000), false, token);
    assert.equal(verifyToken(totp, '287082', 59_000), true);
    assert.equal(verifyToken(totp, tokenOf(totp, 0), 0), true);
  });
});

describe('A key', () => {
  test('may lack its padding and be in lower case', () => {
    const { key } = totpOf({ key: 'MFRGG' });
    assert.equal(key.toString('latin1'), 'abc');
    assert.deepEqual(totpOf({ key: 'mfrgg===' }).key, key);
  });

  test('or anything else that cannot be used is named', () => {
    const wrong: [unknown, RegExp][] = [
      [null, /object/],
      ['MFRGG', /object/],
      [[], /object/],
      [{}, /key/],
      [{ key: 1 }, /key/],
      [{ key: '' }, /key/],
      [{ key: '====' }, /key/],
      [{ key: 'M1' }, /key/],
      [{ key: 'MF RGG' }, /key/],
      [{ key: 'A'.repeat(5000) }, /key/],
      [{ key: 'MFRGG', algorithm: 'md5' }, /algorithm/],
      [{ key: 'MFRGG', algorithm: 'constructor' }, /algorithm/],
      [{ key: 'MFRGG', algorithm: null }, /algorithm/],
      [{ key: 'MFRGG', length: 5 }, /length/],
      [{ key: 'MFRGG', length: '6' }, /length/],
      [{ key: 'MFRGG', length: 1e9 }, /length/],
    ];
    for (const [value, reason] of wrong) {
      const read = readTotp(value);
      assert.ok('wrong' in read, JSON.stringify(value));
      assert.match(read.wrong, reason);
    }
  });
});
