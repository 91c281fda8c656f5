/** The one place that sends requests. The page lies at `…/_utils/`, the interface one level above. */
const root = new URL('../', document.baseURI);

/** A refusal by the server, or the lack of an answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly error: string,
    readonly reason: string,
    readonly request: string,
  ) {
    super(`${error}: ${reason}`);
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface RequestOptions {
  query?: Query;
  /** A value that is sent as JSON. */
  json?: unknown;
  /** JSON that is ready to be sent. */
  text?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Builds an address from parts of a path, each of which is encoded. */
export function address(parts: readonly string[], query: Query = {}): string {
  const found = new URL(parts.map(encodePart).join('/'), root);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) found.searchParams.set(name, String(value));
  }
  return found.href;
}

/** `_design/name` and `_local/name` keep their slash, as the interface writes them. */
function encodePart(part: string): string {
  const [, prefix = '', rest = ''] = /^(_design\/|_local\/)?([^]*)$/.exec(part) ?? [];
  if (rest === '.' || rest === '..')
    throw new Error(`A browser can't ask for an address with ${rest} in it.`);
  return prefix + encodeURIComponent(rest);
}

let whenSessionEnds: () => void = () => undefined;

/** Sets what happens when the server no longer knows who is asking. */
export function onSessionEnd(callback: () => void): void {
  whenSessionEnds = callback;
}

export async function send(
  method: string,
  parts: readonly string[],
  options: RequestOptions = {},
): Promise<Response> {
  const body = options.text ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
  const request = `${method} /${parts.map(encodePart).join('/')}`;
  const response = await answerTo(address(parts, options.query), request, {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  if (response.ok) return response;
  const error = errorOf(response.status, await response.text(), request);
  if (error.status === 401 && parts[0] !== '_session') whenSessionEnds();
  throw error;
}

async function answerTo(url: string, request: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server did not answer.', request);
  }
}

/** Reads an error in the interface's form; a proxy in between may have sent something else. */
export function errorOf(status: number, text: string, request: string): ApiError {
  try {
    const { error, reason } = JSON.parse(text) as { error?: unknown; reason?: unknown };
    return new ApiError(status, String(error), String(reason), request);
  } catch {
    return new ApiError(status, `status ${status}`, text.slice(0, 300), request);
  }
}

export async function call<T>(
  method: string,
  parts: readonly string[],
  options: RequestOptions = {},
): Promise<T> {
  return (await (await send(method, parts, options)).json()) as T;
}

export const get = <T>(parts: readonly string[], query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', parts, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });

export async function getText(
  parts: readonly string[],
  query?: Query,
  signal?: AbortSignal,
): Promise<string> {
  const response = await send('GET', parts, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });
  return await response.text();
}
