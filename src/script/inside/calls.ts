import type { Compile, UserFunction } from './compile.js';
import type { Core } from './core.js';
import type { FunctionRequest, FunctionResponse, Responses } from './responses.js';

export interface Caller {
  /** Takes the design document, as JSON. */
  load: (ddoc: string) => void;
  /** The function at a path of the design document, and what kind it is. */
  find: (path: string) => { kind: string; run: UserFunction };
  /** Calls a function with each list of arguments in turn, to which `shared` is added; a line for each. */
  run: (path: string, calls: string, shared: string) => string;
  ddoc: () => unknown;
}

/** Calls functions of a design document, each kind in its own way. */
export function makeCaller(
  core: Core,
  compile: Compile,
  answers: Record<string, (run: UserFunction, ddoc: unknown, list: unknown[]) => string>,
  failure: (thrown: unknown, kind: string) => [string, unknown],
  tick: () => void,
): Caller {
  const { parse, stringify, isExhausted, ownMember } = core;
  let ddoc: unknown;
  let compiled: Record<string, UserFunction> = { __proto__: null as never };

  const find = (path: string): { kind: string; run: UserFunction } => {
    const names = parse(path) as string[];
    const kind = names[0]!;
    const known = compiled[path];
    if (known !== undefined) return { kind, run: known };
    let source: unknown = ddoc;
    for (let i = 0; i < names.length; i++) {
      source = ownMember(source, names[i]!);
      if (source === undefined) throw ['error', 'not_found', `missing json key: ${names[i]}`];
    }
    return { kind, run: (compiled[path] = compile(source)) };
  };

  return {
    load: (text) => {
      ddoc = parse(text);
      compiled = { __proto__: null as never };
    },
    find,
    run: (path, calls, shared) => {
      const { kind, run } = find(path);
      const list = parse(calls) as unknown[][];
      const common = parse(shared) as unknown[];
      let lines = '';
      for (let i = 0; i < list.length; i++) {
        tick();
        const given = list[i]!;
        for (let k = 0; k < common.length; k++) given[given.length] = common[k];
        try {
          lines += answers[kind]!(run, ddoc, given) + '\n';
        } catch (thrown) {
          if (isExhausted(thrown)) throw thrown;
          lines += '!' + stringify(failure(thrown, kind)) + '\n';
        }
      }
      return lines;
    },
    ddoc: () => ddoc,
  };
}

/** What each kind of function gives back, as JSON. */
export function makeAnswers(
  { apply, stringify, isArray, ownMember, note, describe }: Core,
  responses: Responses,
  emitted: () => boolean,
): Parameters<typeof makeCaller>[2] {
  const response = (value: unknown, kind: string): FunctionResponse => {
    if (typeof value === 'string') return { body: value };
    if (typeof value === 'object' && value !== null) return value;
    throw ['error', 'render_error', `undefined response from ${kind} function`];
  };

  const bodyOf = (answer: FunctionResponse): string => (ownMember(answer, 'body') ?? '') as string;

  return {
    __proto__: null as never,
    validate_doc_update: (run, ddoc, list) => {
      apply(run, ddoc, list);
      return 'null';
    },
    filters: (run, ddoc, list) => (apply(run, ddoc, list) ? 'true' : 'false'),
    views: (run, _, list) => {
      emitted();
      try {
        run(list[0]);
      } catch (thrown) {
        note(`A map function threw ${describe(thrown)} when it was used as a filter.`);
        return 'false';
      }
      return emitted() ? 'true' : 'false';
    },
    updates: (run, ddoc, list) => {
      const result = apply(run, ddoc, list);
      const doc = isArray(result) ? result[0] : undefined;
      const answer = response(isArray(result) ? result[1] : undefined, 'update');
      return `[${stringify(doc)},${stringify(answer)}]`;
    },
    shows: (run, ddoc, list) => {
      responses.reset();
      const returned = response(apply(run, ddoc, list) || {}, 'show');
      const sent = responses.takeChunks();
      const started = sent === '' ? {} : responses.head();
      const rendered = responses.rendered(undefined, list[1] as FunctionRequest);
      const provided = response(rendered || {}, 'show');
      const last = responses.takeChunks();
      const answer = responses.shown(returned, provided, started);
      if (sent !== '' || last !== '' || rendered !== undefined) {
        const body = sent + bodyOf(returned) + last + bodyOf(provided);
        // An answer may have `json` or `base64` instead.
        if (body !== '') answer.body = body;
      }
      return stringify(answer);
    },
    rewrites: (run, ddoc, list) => stringify(apply(run, ddoc, list)),
  };
}
