/**
 * Password hashes as the configuration keeps them:
 *
 *     -pbkdf2-<hash>,<salt>,<iterations>            PBKDF2 with HMAC-SHA1, 20 bytes; what is written
 *     -pbkdf2:<digest>-<hash>,<salt>,<iterations>   the same with another digest, as CouchDB 3.4 writes it
 *     -hashed-<hash>,<salt>                         SHA-1 of password and salt, from CouchDB's first years
 *
 * `user-hash.ts` has those of user documents. Hashes are hexadecimal; the salt is used as the text that it is. PBKDF2
 * runs on the thread pool, never on the thread that serves requests.
 */
import { createHash, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const deriveOnPool = promisify(pbkdf2);

export interface PasswordHash {
  /** The digest under PBKDF2, or null for a single salted SHA-1. */
  pbkdf2Digest: string | null;
  hash: Buffer;
  salt: string;
  iterations: number;
}

/** Digests by the names that CouchDB has for them, and the bytes of each. */
const digests: Readonly<Record<string, { name: string; bytes: number }>> = {
  sha: { name: 'sha1', bytes: 20 },
  sha1: { name: 'sha1', bytes: 20 },
  sha224: { name: 'sha224', bytes: 28 },
  sha256: { name: 'sha256', bytes: 32 },
  sha384: { name: 'sha384', bytes: 48 },
  sha512: { name: 'sha512', bytes: 64 },
};

/** The digest of that name, as Node calls it; undefined where there is none. */
export function digestOf(name: string): { name: string; bytes: number } | undefined {
  return Object.hasOwn(digests, name) ? digests[name] : undefined;
}

const pbkdf2Shape = /^-pbkdf2(?::(\w+))?-([0-9a-f]+),([^,]*),(\d{1,10})$/;
const hashedShape = /^-hashed-([0-9a-f]{40}),(.*)$/;

/** The parts of a stored hash, or undefined for anything else, such as a password in clear text. */
export function parseHash(stored: string): PasswordHash | undefined {
  const derived = pbkdf2Shape.exec(stored);
  if (derived) return pbkdf2Hash(derived[1] ?? 'sha', derived[2]!, derived[3]!, Number(derived[4]));
  const hashed = hashedShape.exec(stored);
  return hashed ? sha1Hash(hashed[1]!, hashed[2]!) : undefined;
}

/** A longer hash than any digest has would only make logins expensive. */
const hashHexMax = 128;

export function pbkdf2Hash(
  digestName: string,
  hex: string,
  salt: string,
  iterations: number,
): PasswordHash | undefined {
  const digest = digestOf(digestName);
  if (digest === undefined || hex.length > hashHexMax || !/^([0-9a-f]{2})+$/i.test(hex)) return undefined;
  // Node's PBKDF2 takes a 31-bit number of iterations.
  if (!Number.isInteger(iterations) || iterations < 1 || iterations > 0x7fffffff) return undefined;
  return { pbkdf2Digest: digest.name, hash: Buffer.from(hex, 'hex'), salt, iterations };
}

export function sha1Hash(hex: string, salt: string): PasswordHash | undefined {
  if (!/^[0-9a-f]{40}$/i.test(hex)) return undefined;
  return { pbkdf2Digest: null, hash: Buffer.from(hex, 'hex'), salt, iterations: 1 };
}

/** A new salt and what a password gives with it. */
export async function derivePassword(
  password: string,
  digestName: string,
  iterations: number,
): Promise<{ hex: string; salt: string }> {
  const { name, bytes } = digestOf(digestName)!;
  const salt = randomBytes(16).toString('hex');
  const hash = await derive(password, salt, iterations, bytes, name);
  return { hex: hash.toString('hex'), salt };
}

export async function hashPassword(password: string, iterations: number): Promise<string> {
  const { hex, salt } = await derivePassword(password, 'sha', iterations);
  return `-pbkdf2-${hex},${salt},${iterations}`;
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

/** Hashes computed at once: the pool has four threads, and the disk needs some of them. */
const derivingMax = 2;
let deriving = 0;
const waiting: (() => void)[] = [];

/** How many wait is bounded by those who ask: logins and documents of a request have limits of their own. */
async function derive(
  password: string,
  salt: string,
  iterations: number,
  bytes: number,
  digest: string,
): Promise<Buffer> {
  if (deriving < derivingMax) deriving++;
  // Pass the slot to the next waiter.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await deriveOnPool(password, salt, iterations, bytes, digest);
  } finally {
    const next = waiting.shift();
    if (next === undefined) deriving--;
    else next();
  }
}
