import { createPublicKey, type KeyObject } from 'node:crypto';
import { compactVerify, createRemoteJWKSet, errors, type CompactJWSHeaderParameters } from 'jose';
import { badRequest, RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import { checkClaims, requiresExpiry, rolesOf, type Claims } from './token-claims.js';

/** The algorithms of signatures, and which kind of key each needs: a public key is never taken for a shared one. */
const kinds: Readonly<Record<string, 'hmac' | 'rsa' | 'ec' | 'eddsa'>> = {
  HS256: 'hmac',
  HS384: 'hmac',
  HS512: 'hmac',
  RS256: 'rsa',
  RS384: 'rsa',
  RS512: 'rsa',
  ES256: 'ec',
  ES384: 'ec',
  ES512: 'ec',
  EdDSA: 'eddsa',
};

const tokenCharsMax = 32_768;

export interface TokenUser {
  user: UserContext;
  /** When the token ends, in milliseconds. */
  until: number;
}

type Key = Uint8Array | KeyObject | ReturnType<typeof createRemoteJWKSet>;

/** Authenticates users by JSON Web Tokens signed with a configured key. */
export class JsonWebTokens {
  readonly #keys = new Map<string, Key>();

  constructor(
    private readonly config: Config,
    private readonly now: () => number,
  ) {}

  /** Forgets the keys, which are read from the configuration. */
  forget(): void {
    this.#keys.clear();
  }

  async user(token: string): Promise<TokenUser> {
    const { alg, kid } = readHeader(token);
    const claims = await this.#verified(token, alg, kid);
    const { config } = this;
    const required = config.text('jwt_auth/required_claims');
    checkClaims(claims, {
      required,
      skewSeconds: config.number('jwt_auth/clock_skew'),
      nowSeconds: Math.floor(this.now() / 1000),
    });
    const name = claims['sub'];
    if (name === undefined) throw new RequestError('unauthorized', 'Token missing sub claim.');
    if (typeof name !== 'string' || name === '') throw badRequest('Invalid sub claim');
    const roles = rolesOf(
      claims,
      config.text('jwt_auth/roles_claim_name'),
      config.text('jwt_auth/roles_claim_path'),
    );
    const ends = requiresExpiry(required)
      ? (claims['exp'] as number) + config.number('jwt_auth/clock_skew')
      : Infinity;
    return { user: Object.freeze({ name, roles: Object.freeze(roles) }), until: ends * 1000 };
  }

  async #verified(token: string, alg: string, kid: string): Promise<Claims> {
    const key = this.#key(kinds[alg]!, kid);
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [alg] });
      return readObject(Buffer.from(payload).toString('utf8'));
    } catch (error) {
      throw refusalOf(error, alg, typeof key === 'function');
    }
  }

  #key(kind: 'hmac' | 'rsa' | 'ec' | 'eddsa', kid: string): Key {
    const name = `${kind}:${kid}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const stored = this.config.get('jwt_keys', name);
    const jwks = this.config.text('jwt_auth/jwks_url');
    if (stored !== undefined && stored !== '') {
      const key = kind === 'hmac' ? Buffer.from(stored, 'base64') : publicKey(name, kind, stored);
      this.#keys.set(name, key);
      return key;
    }
    // A public key set must not contain shared keys.
    if (jwks === '' || kind === 'hmac') throw badRequest('Unknown kid');
    const set = this.#keys.get('jwks') ?? remoteKeys(jwks);
    this.#keys.set('jwks', set);
    return set;
  }
}

function readHeader(token: string): { alg: string; kid: string } {
  const parts = token.split('.');
  if (parts.length !== 3 || token.length > tokenCharsMax) throw badRequest('Malformed token');
  const header = readObject(
    Buffer.from(parts[0]!, 'base64url').toString('utf8'),
  ) as CompactJWSHeaderParameters;
  const { alg, kid = '_default' } = header as { alg?: unknown; kid?: unknown };
  if (alg === undefined) throw badRequest('Missing alg header parameter');
  if (typeof alg !== 'string' || !Object.hasOwn(kinds, alg)) throw badRequest('Invalid alg header parameter');
  if (typeof kid !== 'string') throw badRequest('Invalid kid header parameter');
  return { alg, kid };
}

function readObject(json: string): Claims {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw badRequest('Malformed token');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('Not an object');
  return value as Claims;
}

const keyTypes = { rsa: ['rsa', 'rsa-pss'], ec: ['ec'], eddsa: ['ed25519', 'ed448'] } as const;

/** Keys stand in the configuration as PEM, on one line: `\n` stands for the ends of its lines. */
function publicKey(name: string, kind: 'rsa' | 'ec' | 'eddsa', stored: string): KeyObject {
  try {
    const key = createPublicKey(stored.replaceAll('\\n', '\n'));
    if ((keyTypes[kind] as readonly string[]).includes(key.asymmetricKeyType ?? '')) return key;
  } catch {
    // Said below: the reason of the library would only repeat parts of the key.
  }
  throw new RequestError('internal_server_error', `The option [jwt_keys] ${name} holds no key of that kind.`);
}

/** Files of the machine are no place for keys that others can name. */
const webAddress = /^https?:\/\//i;

function remoteKeys(url: string): ReturnType<typeof createRemoteJWKSet> {
  if (!URL.canParse(url) || !webAddress.test(url)) {
    throw new RequestError('internal_server_error', 'The option [jwt_auth] jwks_url is no address.');
  }
  return createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000, cooldownDuration: 30_000 });
}

function refusalOf(error: unknown, alg: string, isRemote: boolean): unknown {
  if (error instanceof RequestError) return error;
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return badRequest(kinds[alg] === 'hmac' ? 'Bad HMAC' : 'Bad signature');
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return badRequest('Unknown kid');
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported) {
    return badRequest('Malformed token');
  }
  if (isRemote && isFetchFailure(error))
    return new RequestError('service_unavailable', 'The keys of tokens could not be fetched.');
  // An elliptic curve of another size, for example.
  return badRequest('The key does not fit the algorithm of the token.');
}

/** Whether fetching or parsing the key set failed. Other errors concern the token itself. */
function isFetchFailure(error: unknown): boolean {
  if (error instanceof errors.JOSEError)
    return [errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code].includes(error.code);
  return error instanceof TypeError && error.message === 'fetch failed';
}
