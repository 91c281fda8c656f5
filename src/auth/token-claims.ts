import { badRequest, RequestError } from '../base/errors.js';
import { parseTerms, textOf } from '../config/erlang-term.js';

export type Claims = Readonly<Record<string, unknown>>;

/** A claim that a token must have, and the value it must have, if that matters. */
interface RequiredClaim {
  name: string;
  value?: string;
}

/** `exp, iat, {iss, "issuer"}` */
function readRequired(text: string): RequiredClaim[] {
  const required = parseTerms(text)?.map((term): RequiredClaim | undefined => {
    const name = textOf(term);
    if (name !== undefined) return { name };
    if (term.type !== 'tuple' || term.items.length !== 2) return undefined;
    const [key, value] = term.items.map(textOf);
    return key === undefined || value === undefined ? undefined : { name: key, value };
  });
  if (required === undefined || required.includes(undefined)) {
    throw new RequestError('internal_server_error', 'The option [jwt_auth] required_claims cannot be read.');
  }
  return required as RequiredClaim[];
}

export interface ClaimRules {
  required: string;
  skewSeconds: number;
  nowSeconds: number;
}

/**
 * Refuses claims that are missing or don't hold. As in CouchDB, only those that are required are looked at, with one
 * exception: a token that says when it begins to count does not count before.
 */
export function checkClaims(claims: Claims, rules: ClaimRules): void {
  for (const { name, value } of readRequired(rules.required)) {
    if (!Object.hasOwn(claims, name)) throw badRequest(`Missing ${name} claim`);
    checkClaim(name, claims[name], value, rules);
  }
  if (Object.hasOwn(claims, 'nbf')) checkClaim('nbf', claims['nbf'], undefined, rules);
}

function checkClaim(
  name: string,
  claim: unknown,
  value: string | undefined,
  { skewSeconds, nowSeconds }: ClaimRules,
): void {
  const timed = name === 'exp' || name === 'nbf' || name === 'iat';
  if ((timed && typeof claim !== 'number') || (value !== undefined && claim !== value)) {
    throw badRequest(`Invalid ${name} claim`);
  }
  if (name === 'exp' && !((claim as number) + skewSeconds > nowSeconds)) {
    throw new RequestError('unauthorized', 'exp not in future');
  }
  if (name === 'nbf' && !((claim as number) - skewSeconds <= nowSeconds)) {
    throw new RequestError('unauthorized', 'nbf not in past');
  }
}

/** Whether the list of required claims has `exp`: then a token ends when it says. */
export const requiresExpiry = (required: string): boolean =>
  readRequired(required).some(({ name }) => name === 'exp');

/**
 * The user's roles, under a name or at the end of a path (`app.roles`, with `\.` for a dot): a list of strings, or one
 * string in which commas separate them.
 */
export function rolesOf(claims: Claims, name: string, path: string): string[] {
  const found = path === '' ? byName(claims, name) : byPath(claims, path);
  if (found === undefined) return [];
  if (typeof found === 'string') {
    const roles = found.split(',').map((role) => role.trim());
    return roles.filter((role) => role !== '');
  }
  if (!Array.isArray(found) || !found.every((role): role is string => typeof role === 'string')) {
    throw badRequest('Malformed token');
  }
  return found;
}

/** CouchDB's default name is used unless another is configured. */
function byName(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name === '_svc.roles' && Object.hasOwn(claims, '_couchdb.roles')
    ? claims['_couchdb.roles']
    : undefined;
}

function byPath(claims: Claims, path: string): unknown {
  const parts = path.match(/(?:\\.|[^.\\])+/g) ?? [];
  let found: unknown = claims;
  for (const part of parts) {
    const key = part.replace(/\\(.)/g, '$1');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
