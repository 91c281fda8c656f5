/**
 * Time-based one-time passwords (RFC 6238), the second factor of a login. A user document asks for one with
 *
 *     "totp": { "key": "JBSWY3DPEHPK3PXP", "algorithm": "sha", "length": 6 }
 *
 * as in CouchDB: the key is in base32, `algorithm` and `length` may be left out. A token belongs to a step of 30 seconds;
 * the step before and the one behind are accepted too, for clocks that differ and people who type slowly.
 */
import { timingSafeEqual } from 'node:crypto';
import { tokenOf, type TokenSettings } from './hotp.js';
import { digestOf } from './passwords.js';

const stepSeconds = 30;
const lengths: readonly unknown[] = [6, 7, 8];
const keyCharsMax = 1024;

/** What a user document asks for, or what is wrong with it. */
export function readTotp(value: unknown): TokenSettings | { wrong: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { wrong: 'totp must be an object.' };
  const { key, algorithm = 'sha', length = 6 } = value as Record<string, unknown>;
  const bytes = typeof key === 'string' ? decodeBase32(key) : undefined;
  if (bytes === undefined || bytes.length === 0) return { wrong: 'totp.key must be text in base32.' };
  const digest = typeof algorithm === 'string' ? digestOf(algorithm) : undefined;
  if (digest === undefined) return { wrong: 'totp.algorithm must be sha, sha224, sha256, sha384 or sha512.' };
  if (!lengths.includes(length)) return { wrong: 'totp.length must be 6, 7 or 8.' };
  return { key: bytes, digest: digest.name, length: length as number };
}

/** Whether a token is one of those that count now. Takes the same time for all of them. */
export function verifyToken(totp: TokenSettings, token: string, now_ms: number): boolean {
  const given = Buffer.from(token, 'utf8');
  const step = Math.floor(now_ms / 1000 / stepSeconds);
  let matches = false;
  for (const each of [step - 1, step, step + 1]) {
    const expected = Buffer.from(tokenOf(totp, each), 'latin1');
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;
  }
  return matches;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Undefined for what is no base32. Padding may be missing, as where keys are shown to people. */
function decodeBase32(text: string): Buffer | undefined {
  if (text.length > keyCharsMax || !/^[A-Za-z2-7]*={0,6}$/.test(text)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const char of text.toUpperCase().replace(/=+$/, '')) {
    held = ((held << 5) | alphabet.indexOf(char)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
