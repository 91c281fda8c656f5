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
import { createHash, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Runtime } from '../base/runtime.js';
import { Semaphore } from '../base/semaphore.js';

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

/** The digest of that name, as Node calls it; undefined if there is none. */
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

/** Hashes computed at once: the pool has four threads, and the disk needs some of them. */
const derivingMax = 2;

/**
 * Hashes passwords and compares them with hashes. How many wait is bounded by the callers: logins and documents of a
 * request have limits of their own.
 */
export class PasswordHasher {
  readonly #deriving = new Semaphore(derivingMax);
  /** Hashes computed with PBKDF2 so far. */
  count = 0;

  constructor(private readonly runtime: Runtime) {}

  /** A salt, a new one if none is given, and what a password gives with it. */
  async derive(
    password: string,
    digestName: string,
    iterations: number,
    salt = this.runtime.randomHex(16),
  ): Promise<{ hex: string; salt: string }> {
    const { name, bytes } = digestOf(digestName)!;
    const hash = await this.#derive(password, salt, iterations, bytes, name);
    return { hex: hash.toString('hex'), salt };
  }

  /** A password as the configuration keeps it. */
  async hash(password: string, iterations: number): Promise<string> {
    const { hex, salt } = await this.derive(password, 'sha', iterations);
    return `-pbkdf2-${hex},${salt},${iterations}`;
  }

  async verify(password: string, stored: PasswordHash): Promise<boolean> {
    const { pbkdf2Digest, hash, salt, iterations } = stored;
    const computed =
      pbkdf2Digest === null
        ? createHash('sha1')
            .update(password + salt)
            .digest()
        : await this.#derive(password, salt, iterations, hash.length, pbkdf2Digest);
    return timingSafeEqual(computed, hash);
  }

  #derive(
    password: string,
    salt: string,
    iterations: number,
    bytes: number,
    digest: string,
  ): Promise<Buffer> {
    this.count++;
    return this.#deriving.run(() => deriveOnPool(password, salt, iterations, bytes, digest));
  }
}
