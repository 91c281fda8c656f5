import { endpoints } from './endpoints/all.js';
import type { Endpoint } from './endpoints/endpoint.js';
import { users, type CompareRequest } from './request.js';
import type { SceneName } from './scene.js';
import { memberTrials, trials, wrongBodies } from './values.js';

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS', 'PATCH'];
const acceptedTypes = ['*/*', 'text/html', 'multipart/mixed', 'application/xml', ''];
const contentTypes = [
  '',
  'text/plain',
  'application/json; charset=utf-8',
  'application/x-www-form-urlencoded',
];

/** A request of the grid and the database it is sent to. */
export interface GridRequest {
  request: CompareRequest;
  scene: SceneName;
  writes: boolean;
}

/** Every endpoint with every kind of value of every parameter, every user and every method. */
export function gridRequests(only = ''): GridRequest[] {
  const wanted = ({ request }: GridRequest): boolean => `${request.endpoint} ${request.path}`.includes(only);
  return [...endpoints.flatMap(endpointRequests), ...methodRequests()].filter(wanted);
}

function endpointRequests(endpoint: Endpoint): GridRequest[] {
  const { scene = 'plain', writes = false } = endpoint;
  const requests = [
    ...headerRequests(endpoint),
    ...parameterRequests(endpoint),
    ...(endpoint.members ?? []).flatMap((member) => memberRequests(endpoint, member)),
    ...bodyRequests(endpoint),
  ];
  return requests.map((request) => ({ request, scene, writes }));
}

function headerRequests(endpoint: Endpoint): CompareRequest[] {
  const plain = plainRequest(endpoint);
  return [
    ...users.map((user) => ({ ...plain, parameter: 'user', user })),
    ...acceptedTypes.map((accept) => ({
      ...plain,
      parameter: 'header accept',
      headers: { ...plain.headers, accept },
    })),
  ];
}

function parameterRequests(endpoint: Endpoint): CompareRequest[] {
  const plain = plainRequest(endpoint);
  return Object.entries(endpoint.parameters ?? {}).flatMap(([name, type]) =>
    trials(name, type).map(({ text, kind }) => ({
      ...plain,
      parameter: name,
      kind,
      path: withParameter(plain.path, name + text),
    })),
  );
}

function memberRequests(endpoint: Endpoint, member: string): CompareRequest[] {
  const plain = plainRequest(endpoint);
  return memberTrials.map(({ value, kind }) => {
    const body = structuredClone(endpoint.body) as Record<string, unknown>;
    setMember(body, member.split('.'), value);
    return { ...plain, parameter: `body.${member}`, kind, body };
  });
}

function bodyRequests(endpoint: Endpoint): CompareRequest[] {
  if (typeof endpoint.body !== 'object') return [];
  const plain = plainRequest(endpoint);
  return [
    ...wrongBodies.map((body) => ({ ...plain, parameter: 'body', kind: 'malformed' as const, body })),
    ...contentTypes.map((type) => ({
      ...plain,
      parameter: 'header content-type',
      headers: { 'content-type': type },
    })),
  ];
}

/** Every path with every method, also those that it does not know. */
function methodRequests(): GridRequest[] {
  const paths = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  return [...paths.values()].flatMap(({ path, route, scene = 'plain' }) =>
    methods.map((method) => ({
      request: { endpoint: `${method} ${route}`, method, path, parameter: 'method' },
      scene,
      writes: method !== 'GET' && method !== 'HEAD',
    })),
  );
}

function setMember(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let place = body;
  for (const name of path.slice(0, -1)) {
    if (typeof place[name] !== 'object' || place[name] === null) place[name] = {};
    place = place[name] as Record<string, unknown>;
  }
  place[path.at(-1)!] = value;
}

function plainRequest({ route, method, path, query, body, headers }: Endpoint): CompareRequest {
  return {
    endpoint: `${method} ${route}`,
    method,
    path: query === undefined ? path : withParameter(path, query),
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  };
}

function withParameter(path: string, parameter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${parameter}`;
}
