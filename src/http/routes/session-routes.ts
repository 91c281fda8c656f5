import type { OutgoingHttpHeaders } from 'node:http';
import type { Credentials } from '../../auth/logins.js';
import { toBytes } from '../../base/bytes.js';
import { badRequest, invalidJson, notAnObject, RequestError } from '../../base/errors.js';
import { parseJson } from '../../json/scan.js';
import type { Exchange } from '../exchange.js';
import { addressOf, wantsPage } from '../request/login-request.js';
import { Query } from '../request/query.js';
import type { ServerRoute } from './route.js';

/** Sessions: who am I, log in, log out. */
export const sessionRoutes: readonly ServerRoute[] = [
  {
    path: '/_session',
    allow: 'GET,HEAD,POST,DELETE',
    access: 'public',
    methods: { GET: getSession, POST: logIn, DELETE: logOut },
  },
];

function getSession(exchange: Exchange): void {
  const { user, identity, services } = exchange;
  if (user.name === null && exchange.query.isTrue('basic'))
    throw new RequestError('unauthorized', 'Please login.');
  exchange.json(200, {
    ok: true,
    userCtx: { name: user.name, roles: user.roles },
    info: {
      authentication_handlers: services.authenticator.handlers,
      authenticated: identity.handler,
      authentication_db: services.config.text('chttpd_auth/authentication_db') || undefined,
    },
  });
}

async function logIn(exchange: Exchange): Promise<void> {
  const { authenticator } = exchange.services;
  const credentials = await readLogin(exchange);
  try {
    const account = await authenticator.login(credentials, exchange.sender);
    const page = redirection(exchange, 'next') ?? pageAfterLogin(exchange);
    exchange.setCookie = authenticator.sessions.header(
      authenticator.sessions.seal(account)!,
      exchange.secure,
    );
    const { user } = account;
    answer(exchange, page === undefined ? 200 : 302, { ok: true, name: user.name, roles: user.roles }, page);
  } catch (error) {
    if (!(error instanceof RequestError && error.error === 'unauthorized')) throw error;
    const fail = redirection(exchange, 'fail');
    exchange.setCookie = authenticator.sessions.header('', exchange.secure);
    answer(exchange, fail === undefined ? 401 : 302, { error: error.error, reason: error.reason }, fail);
  }
}

function logOut(exchange: Exchange): void {
  const next = redirection(exchange, 'next');
  exchange.setCookie = exchange.services.authenticator.sessions.header('', exchange.secure);
  answer(exchange, next === undefined ? 200 : 302, { ok: true }, next);
}

function answer(exchange: Exchange, status: number, value: object, page: string | undefined): void {
  const headers: OutgoingHttpHeaders = page === undefined ? {} : { Location: addressOf(exchange, page) };
  exchange.text(status, toBytes(JSON.stringify(value)), headers);
}

/** Where a browser is to go; only to this server, so that a link cannot lead people elsewhere after their login. */
function redirection(exchange: Exchange, name: 'next' | 'fail'): string | undefined {
  const path = exchange.query.first(name);
  if (path !== undefined && !path.startsWith('/')) throw badRequest('path must begin with a /.');
  return path;
}

function pageAfterLogin(exchange: Exchange): string | undefined {
  const page = exchange.services.config.text('chttpd_auth/authentication_redirect');
  return page !== '' && wantsPage(exchange) ? page : undefined;
}

const loginBytesMax = 64 * 1024;

async function readLogin(exchange: Exchange): Promise<Credentials> {
  // As in CouchDB, what the header begins with decides.
  const type = (exchange.header('content-type') ?? '').toLowerCase();
  const isJson = type.startsWith('application/json');
  if (!isJson && !type.startsWith('application/x-www-form-urlencoded')) {
    throw new RequestError(
      'bad_content_type',
      "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'",
    );
  }
  const bytes = await exchange.body(loginBytesMax);
  const fields = isJson ? jsonFields(bytes) : formFields(bytes);
  const names = ['name', 'username'].flatMap((field) => fields(field) ?? []);
  if (names.length === 0) throw badRequest('request body must contain a username');
  if (names.some((each) => each !== names[0])) throw badRequest('request body contains different usernames');
  return { name: names[0]!, password: fields('password') ?? '', token: fields('token') ?? '' };
}

type Fields = (name: string) => string | undefined;

function formFields(bytes: Buffer): Fields {
  const form = new Query(bytes.toString('latin1'));
  return (name) => form.first(name);
}

function jsonFields(bytes: Buffer): Fields {
  if (bytes.length === 0) throw invalidJson();
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  return (name) => {
    const field = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (field === undefined || typeof field === 'string') return field;
    throw badRequest(`\`${name}\` must be a string.`);
  };
}
