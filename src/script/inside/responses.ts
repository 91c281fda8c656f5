import type { Core } from './core.js';
import type { MediaTypes } from './types.js';

export interface FunctionRequest {
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

export interface FunctionResponse {
  code?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** What show and list functions say by `start`, `send`, `provides` and `registerType`. */
export interface Responses {
  start: (response: unknown) => void;
  send: (chunk: unknown) => void;
  provides: (name: string, render: () => unknown) => void;
  /** Forgets what the call before has said. */
  reset: () => void;
  /** What the function gave back, or what the provided function that fits the request gives. */
  rendered: (returned: unknown, request: FunctionRequest) => unknown;
  /** What was sent since the last call. */
  takeChunks: () => string;
  /** Status and headers, as far as they were given. */
  head: () => FunctionResponse;
}

export function makeResponses({ apply }: Core, types: MediaTypes): Responses {
  const { join, reverse } = Array.prototype;
  let started: FunctionResponse = {};
  let chunks = '';
  let provided: { name: string; render: () => unknown }[] = [];
  let contentType: string | undefined;

  const notAcceptable = (wanted: string): never => {
    const offered: string[] = [];
    for (let i = 0; i < provided.length; i++) {
      const { name } = provided[i]!;
      offered[i] = (apply(join, types.of(name), [', ']) as string) || name;
    }
    const list = apply(join, apply(reverse, offered, []), [', ']) as string;
    throw ['error', 'not_acceptable', `Content-Type ${wanted} not supported, try one of: ${list}`];
  };

  const choose = ({ headers, query }: FunctionRequest): (() => unknown) => {
    const format = query?.['format'];
    const accept = headers?.['Accept'];
    const names: string[] = [];
    for (let i = 0; i < provided.length; i++) names[i] = provided[i]!.name;
    const first = { name: names[0]!, type: types.of(names[0]!)[0] };
    const byAccept = accept === undefined ? first : types.best(names, accept);
    const found = format === undefined ? byAccept : { name: format, type: types.of(format)[0] };
    for (let i = 0; i < provided.length; i++) {
      if (provided[i]!.name !== found?.name) continue;
      contentType = found.type;
      return provided[i]!.render;
    }
    return notAcceptable(format ?? accept ?? names[0]!);
  };

  return {
    start: (response) => {
      started = (response ?? {}) as FunctionResponse;
    },
    send: (chunk) => {
      chunks += '' + chunk;
    },
    provides: (name, render) => {
      provided[provided.length] = { name, render };
    },
    reset: () => {
      started = {};
      chunks = '';
      provided = [];
      contentType = undefined;
    },
    rendered: (returned, request) => (provided.length === 0 ? returned : choose(request)()),
    takeChunks: () => {
      const text = chunks;
      chunks = '';
      return text;
    },
    head: () => {
      const headers = {
        ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
        ...started.headers,
      };
      return { ...started, headers };
    },
  };
}
