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
  /** The answer of a show function: what was given to `start`, where something was sent, are headers. */
  shown: (
    returned: FunctionResponse,
    provided: FunctionResponse,
    started: FunctionResponse,
  ) => FunctionResponse;
  /** Status and headers, as far as they were given. */
  head: () => FunctionResponse;
}

interface Provided {
  name: string;
  render: () => unknown;
}

/** Chooses among what is provided by the request's `format` and `Accept`; throws where nothing fits. */
type Choose = (
  provided: Provided[],
  request: FunctionRequest,
) => { type: string | undefined; render: () => unknown };

export function makeChoose({ apply }: Core, types: MediaTypes): Choose {
  const { join } = Array.prototype;

  const notAcceptable = (provided: Provided[], wanted: string): never => {
    const offered: string[] = [];
    for (let i = 0; i < provided.length; i++) {
      const { name } = provided[i]!;
      offered[i] = (apply(join, types.of(name), [', ']) as string) || name;
    }
    const list = apply(join, offered, [', ']) as string;
    throw ['error', 'not_acceptable', `Content-Type ${wanted} not supported, try one of: ${list}`];
  };

  const reversed = (provided: Provided[]): Provided[] => {
    const list: Provided[] = [];
    for (let i = 0; i < provided.length; i++) list[i] = provided[provided.length - 1 - i]!;
    return list;
  };

  const byAccept = (provided: Provided[], accept: string): { name: string; type: string } | undefined => {
    const names: string[] = [];
    for (let i = 0; i < provided.length; i++) names[i] = provided[i]!.name;
    return types.best(names, accept);
  };

  return (provided, { headers, query }) => {
    const format = query?.['format'] || undefined;
    const accept = headers?.['Accept'] || undefined;
    const name = format ?? provided[0]!.name;
    const isByAccept = format === undefined && accept !== undefined;
    const found = isByAccept ? byAccept(provided, accept) : { name, type: types.of(name)[0] };
    // Where the header decides, CouchDB looks at what was provided last first.
    const list = isByAccept ? reversed(provided) : provided;
    for (let i = 0; i < list.length; i++) {
      if (list[i]!.name === found?.name) return { type: found.type, render: list[i]!.render };
    }
    return notAcceptable(list, accept ?? name);
  };
}

export function makeResponses(choose: Choose): Responses {
  let started: FunctionResponse = {};
  let chunks = '';
  let provided: Provided[] = [];
  let contentType: string | undefined;
  const typeHeader = (): Record<string, string> =>
    contentType === undefined ? {} : { 'Content-Type': contentType };

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
    rendered: (returned, request) => {
      if (provided.length === 0) return returned;
      const { type, render } = choose(provided, request);
      contentType = type;
      return render();
    },
    takeChunks: () => {
      const text = chunks;
      chunks = '';
      return text;
    },
    shown: (returned, provided, begun) => {
      // A list's form of `start` is understood too.
      const given: Record<string, unknown> = { ...returned.headers, ...begun, ...begun.headers };
      delete given['code'];
      delete given['headers'];
      const headers = { ...typeHeader(), ...given } as Record<string, string>;
      const answer: FunctionResponse = { ...provided, ...returned, headers };
      if (returned.code === undefined) delete answer.code;
      return answer;
    },
    head: () => ({ ...started, headers: { ...typeHeader(), ...started.headers } }),
  };
}
