import { pbkdf2Hash, sha1Hash, type PasswordHash } from './passwords.js';

/**
 * The hash in a user document:
 *
 *     password_scheme: "pbkdf2", pbkdf2_prf: "sha256", derived_key, salt, iterations    what is written
 *     the same without pbkdf2_prf                                                       with HMAC-SHA1
 *     password_scheme: "simple" or none, password_sha, salt                             SHA-1 of password and salt
 *
 * Undefined where the document has none that can be checked: then login by password is impossible.
 */
export function userHash(doc: Readonly<Record<string, unknown>>): PasswordHash | undefined {
  const { password_scheme: scheme = 'simple', pbkdf2_prf: prf = 'sha', salt, iterations } = doc;
  if (typeof salt !== 'string') return undefined;
  if (scheme === 'simple') {
    const hex = doc['password_sha'];
    return typeof hex === 'string' ? sha1Hash(hex, salt) : undefined;
  }
  const hex = doc['derived_key'];
  if (scheme !== 'pbkdf2' || typeof prf !== 'string' || typeof hex !== 'string') return undefined;
  return typeof iterations === 'number' ? pbkdf2Hash(prf, hex, salt, iterations) : undefined;
}
