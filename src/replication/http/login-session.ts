import type { Runtime } from '../../base/runtime.js';
import { RequestError } from '../../base/errors.js';
import type { Login } from '../endpoint.js';

/** What the login itself is asked with: no credentials but those in it. */
export type AskSession = (body: string) => Promise<SessionAnswer>;

export interface SessionAnswer {
  status: number;
  cookies: readonly string[];
  /** The name of the error in a JSON answer, if it has one. */
  error: unknown;
}

/** Where a server does not say how long a session lasts. */
const usualSessionMs = 550_000;
/** A session is renewed when so much of its time is over. */
const renewalShare = 0.8;
const cookie = /^(AuthSession=[^;]+)/;

/**
 * Logs in to a server: by a session where it offers them, so that passwords are not sent and checked with every
 * request, and otherwise by the password.
 */
export class LoginSession {
  #mode: 'unknown' | 'session' | 'basic' = 'unknown';
  #cookie = '';
  #renewAt = 0;
  #asking: Promise<void> | undefined;

  constructor(
    private readonly login: Login,
    private readonly ask: AskSession,
    private readonly address: string,
    private readonly runtime: Runtime,
  ) {}

  /** The headers that a request needs. */
  async headers(): Promise<Record<string, string>> {
    if (this.#mode === 'unknown' || (this.#mode === 'session' && this.runtime.now() >= this.#renewAt))
      await (this.#asking ??= this.#open().finally(() => (this.#asking = undefined)));
    if (this.#mode === 'session') return { cookie: this.#cookie };
    const { name, password } = this.login;
    return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` };
  }

  /** A request was not let in. Tells whether it may be worth another try: a session may have ended early. */
  refused(): boolean {
    if (this.#mode !== 'session') return false;
    this.#renewAt = 0;
    return true;
  }

  /** Servers renew sessions on their own, too. */
  heard(cookies: readonly string[]): void {
    if (this.#mode === 'session') this.#take(cookies);
  }

  async #open(): Promise<void> {
    const { status, cookies, error } = await this.ask(JSON.stringify(this.login));
    if (status === 401 && error === 'unauthorized')
      throw new RequestError('unauthorized', `The name or password for ${this.address} is incorrect.`);
    this.#mode = status === 200 && this.#take(cookies) ? 'session' : 'basic';
  }

  #take(cookies: readonly string[]): boolean {
    for (const header of cookies) {
      const value = cookie.exec(header)?.[1];
      if (value === undefined || value === 'AuthSession=') continue;
      this.#cookie = value;
      const seconds = Number(/;\s*max-age=(\d+)/i.exec(header)?.[1] ?? NaN);
      const lasts = Number.isNaN(seconds) ? usualSessionMs : seconds * 1000;
      this.#renewAt = this.runtime.now() + lasts * renewalShare;
      return true;
    }
    return false;
  }
}
