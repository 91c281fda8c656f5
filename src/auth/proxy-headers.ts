import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../base/errors.js';
import { headerText } from '../base/header-text.js';
import type { UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import type { RequestInfo } from './request-info.js';
import { signingDigests } from './session-cookies.js';

/**
 * The user that a proxy in front of this server has authenticated. A client that reaches the server without the proxy could
 * say the same, unless a token is demanded; therefore this way in has to be opened by the configuration.
 */
export class ProxyHeaders {
  constructor(private readonly config: Config) {}

  /** Undefined if the headers name no user, or the required token is missing or wrong. */
  user(asker: RequestInfo): UserContext | undefined {
    const name = this.#value(asker, 'username', 'X-Auth-Svc-UserName', 'X-Auth-CouchDB-UserName');
    if (name === undefined || name === '') return undefined;
    if (this.config.boolean('chttpd_auth/proxy_use_secret')) {
      const token = this.#value(asker, 'token', 'X-Auth-Svc-Token', 'X-Auth-CouchDB-Token');
      if (token === undefined || !this.#isToken(name, token)) return undefined;
    }
    const roles = this.#value(asker, 'roles', 'X-Auth-Svc-Roles', 'X-Auth-CouchDB-Roles');
    return Object.freeze({ name: headerText(name), roles: Object.freeze(rolesOf(roles)) });
  }

  /** If the header's name is not configured, CouchDB's default name is accepted too. Two differing values are rejected. */
  #value(
    asker: RequestInfo,
    option: 'username' | 'roles' | 'token',
    standard: string,
    couchdb: string,
  ): string | undefined {
    const configured = this.config.text(`chttpd_auth/x_auth_${option}`);
    const names = configured === standard ? [standard, couchdb] : [configured];
    const values = new Set(names.flatMap((name) => (name === '' ? [] : asker.headers(name.toLowerCase()))));
    if (values.size > 1) throw badRequest(`The headers of the proxy name more than one ${option}.`);
    return [...values][0]?.trim();
  }

  #isToken(name: string, token: string): boolean {
    return signingDigests(this.config).some((digest) => {
      const expected = createHmac(digest, this.config.text('chttpd_auth/secret'))
        .update(name, 'latin1')
        .digest();
      const given = Buffer.from(/^[0-9a-f]+$/i.test(token) ? token : '', 'hex');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }
}

/** As in CouchDB, commas at the end separate nothing, while an empty header is one empty role. */
function rolesOf(roles: string | undefined): string[] {
  if (roles === undefined) return [];
  if (roles === '') return [''];
  const list = headerText(roles).split(/\s*,\s*/);
  while (list.at(-1) === '') list.pop();
  return list;
}
