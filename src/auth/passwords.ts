/**
 * Password hashes as the configuration and user documents keep them:
 *
 *     -pbkdf2-<hash>,<salt>,<iterations>            PBKDF2 with HMAC-SHA1, 20 bytes; what is written
 *     -pbkdf2:<digest>-<hash>,<salt>,<iterations>   the same with another digest, as CouchDB 3.4 writes it
 *     -hashed-<hash>,<salt>                         SHA-1 of password and salt, from CouchDB's first years
 *
 * Hashes are hexadecimal; the salt is used as the text that it is. PBKDF2 runs on the thread pool, never on the thread
 * that serves requests.
 */
import { createHash, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

export interface PasswordHash {
  /** The digest under PBKDF2, or null for a single salted SHA-1. */
  pbkdf2Digest: string | null;
  hash: Buffer;
  salt: string;
  iterations: number;
}

const pbkdf2Shape = /^-pbkdf2(?::(sha1?|sha224|sha256|sha384|sha512))?-([0-9a-f]+),([^,]*),(\d{1,10})$/;
const hashedShape = /^-hashed-([0-9a-f]{40}),(.*)$/;

/** The parts of a stored hash, or undefined for anything else, such as a password in clear text. */
export function parseHash(stored: string): PasswordHash | undefined {
  const derived = pbkdf2Shape.exec(stored);
  if (derived) {
    const digest = derived[1] === undefined || derived[1] === 'sha' ? 'sha1' : derived[1];
    const hash = Buffer.from(derived[2]!, 'hex');
    const iterations = Number(derived[4]);
    // Node's PBKDF2 takes a 31-bit number of iterations.
    if (hash.length === 0 || iterations < 1 || iterations > 0x7fffffff) return undefined;
    return { pbkdf2Digest: digest, hash, salt: derived[3]!, iterations };
  }
  const hashed = hashedShape.exec(stored);
  if (!hashed) return undefined;
  return { pbkdf2Digest: null, hash: Buffer.from(hashed[1]!, 'hex'), salt: hashed[2]!, iterations: 1 };
}

export async function hashPassword(password: string, iterations: number): Promise<string> {
  const salt = randomBytes(16).toString('hex');
  const hash = await derive(password, salt, iterations, 20, 'sha1');
  return `-pbkdf2-${hash.toString('hex')},${salt},${iterations}`;
}

export async function verifyPassword(password: string, stored: PasswordHash): Promise<boolean> {
  const { pbkdf2Digest, hash, salt, iterations } = stored;
  const computed =
    pbkdf2Digest === null
      ? createHash('sha1')
          .update(password + salt)
          .digest()
      : await derive(password, salt, iterations, hash.length, pbkdf2Digest);
  return timingSafeEqual(computed, hash);
}
