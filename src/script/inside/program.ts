import { makeAnswers, makeCaller } from './calls.js';
import { makeCompile } from './compile.js';
import { makeCore } from './core.js';
import { makeFailure } from './failures.js';
import { makeIndexField } from './index-field.js';
import { makeKeep } from './keep.js';
import { makeLister } from './list.js';
import { makeMapFailed, makeMapper, makeMapRunner } from './map.js';
import { makeModules, makeResolve } from './modules.js';
import { makeNouveauField } from './nouveau-field.js';
import { makeReducer } from './reduce.js';
import { makeChoose, makeResponses } from './responses.js';
import { makeMediaTypes, makeWish } from './types.js';

/** What can be asked of the sandbox. All take texts, mostly JSON, and give one. */
export type Operation = 'maps' | 'map' | 'reducer' | 'reduce' | 'ddoc' | 'call' | 'list' | 'check';

const parts = {
  makeCore,
  makeCompile,
  makeResolve,
  makeModules,
  makeFailure,
  makeWish,
  makeMediaTypes,
  makeChoose,
  makeResponses,
  makeKeep,
  makeMapFailed,
  makeMapRunner,
  makeMapper,
  makeIndexField,
  makeNouveauField,
  makeReducer,
  makeAnswers,
  makeCaller,
  makeLister,
  makeOperations,
  openScope,
};

/**
 * The programs that are run, in this order, in a new scope before any user function. The value of the last is a function
 * that takes four functions of this side (`tick` is called before each call of a user function, `pull` and `push` serve
 * lists, `hasRoom` tells whether there is memory left) and gives the one by which everything is asked: `(operation, a, b, c) => text`. The text is `+` or `!`, a line
 * with what was logged, and the result, or `[error,reason]`.
 *
 * They are many because the engine's time for a text grows faster than the text. The build writes them to a module of
 * their own (`scope-programs.js`), so that the texts stay as they are where a bundler minifies the functions.
 */
export const scopePrograms: readonly string[] = [
  'globalThis.parts = {}',
  ...Object.entries(parts).map(([name, part]) => `parts.${name} = ${part.toString()}`),
  `(function (parts) {
    delete globalThis.parts;
    return ${link.toString()};
  })(parts)`,
];

type Part<Name extends keyof typeof parts> = ReturnType<(typeof parts)[Name]>;

interface Scope {
  core: Part<'makeCore'>;
  compile: Part<'makeCompile'>;
  modules: Part<'makeModules'>;
  failure: Part<'makeFailure'>;
  types: Part<'makeMediaTypes'>;
  responses: Part<'makeResponses'>;
  mapper: Part<'makeMapper'>;
  reducer: Part<'makeReducer'>;
  caller: Part<'makeCaller'>;
  lister: Part<'makeLister'>;
  emit: (key: unknown, value: unknown) => void;
  countEmit: () => void;
  indexField: Part<'makeIndexField'>;
  nouveauField: Part<'makeNouveauField'>;
}

function link(
  tick: () => void,
  pull: () => string | undefined,
  push: (text: string) => void,
  hasRoom: () => string | undefined,
): Enter {
  const core = parts.makeCore(hasRoom);
  const compile = parts.makeCompile(core);
  const modules = parts.makeModules(core, parts.makeResolve(core));
  const failure = parts.makeFailure(core);
  const types = parts.makeMediaTypes(core, parts.makeWish(core));
  const responses = parts.makeResponses(parts.makeChoose(core, types));
  const runner = parts.makeMapRunner(core, parts.makeKeep(core), parts.makeMapFailed(core), tick);
  const mapper = parts.makeMapper(core, compile, runner);
  const reducer = parts.makeReducer(core, compile, tick);
  let emissions = 0;
  const countEmit = (): void => void emissions++;
  const emitted = (): boolean => {
    const some = emissions > 0;
    emissions = 0;
    return some;
  };
  const answers = parts.makeAnswers(core, responses, emitted);
  const caller = parts.makeCaller(core, compile, answers, failure, tick);
  const lister = parts.makeLister(core, responses, caller, pull, push, tick);
  const scope = {
    ...{ core, compile, modules, failure, types, responses },
    ...{ emit: runner.emit, mapper, reducer, caller, lister, countEmit },
    indexField: parts.makeIndexField(runner.emit),
    nouveauField: parts.makeNouveauField(runner.emit),
  };
  return parts.openScope(scope, parts.makeOperations(scope));
}

type Enter = (operation: Operation, a: string, b: string, c: string) => string;

type Operations = Record<Operation, (a: string, b: string, c: string) => string>;

function makeOperations(scope: Scope): Operations {
  const { core, compile, modules, mapper, reducer, caller, lister, countEmit } = scope;
  const { parse } = core;
  const names = globalThis as Record<string, unknown>;
  return {
    maps: (sources, lib, kind) => {
      if (kind === 'search' || kind === 'nouveau') {
        names['index'] = kind === 'search' ? scope.indexField : scope.nouveauField;
        // Its rows would be taken for fields.
        names['emit'] = () => {};
      }
      names['require'] = modules({ views: { lib: lib === '' ? {} : parse(lib) } });
      mapper.load(sources);
      return '';
    },
    map: (docs, which, how) =>
      mapper.run(
        docs,
        which,
        how === 'alone' || how === 'alone,frozen',
        how === 'frozen' || how === 'alone,frozen',
      ),
    reducer: (source) => {
      reducer.load(source);
      return '';
    },
    reduce: reducer.run,
    ddoc: (text) => {
      caller.load(text);
      names['require'] = modules(caller.ddoc());
      names['emit'] = countEmit;
      return '';
    },
    call: caller.run,
    list: lister.run,
    check: (source) => {
      compile(parse(source));
      return '';
    },
  };
}

/** Puts in place what user functions find in the global scope. */
function openScope({ core, failure, types, responses, emit, lister }: Scope, operations: Operations): Enter {
  const { stringify, isArray, isExhausted, note, takeNotes } = core;
  const names = globalThis as Record<string, unknown>;
  // Nothing to keep time by or to wait with, and nothing that runs after a call.
  const unwanted = ['SharedArrayBuffer', 'Atomics', 'performance', 'queueMicrotask', 'Promise', 'WeakRef'];
  for (const name of [...unwanted, 'FinalizationRegistry']) delete names[name];
  names['emit'] = emit;
  names['sum'] = (values: Record<string, never>) => {
    let total = 0;
    if (isArray(values)) for (let i = 0; i < values.length; i++) total += values[i] as number;
    else for (const at in values) total += values[at]!;
    return total;
  };
  names['log'] = (message: unknown) => note(typeof message === 'string' ? message : stringify(message));
  names['toJSON'] = (value: unknown) => stringify(value);
  names['isArray'] = (value: unknown) => isArray(value);
  names['getRow'] = lister.getRow;
  names['start'] = responses.start;
  names['send'] = responses.send;
  names['provides'] = responses.provides;
  names['registerType'] = types.register;
  return (operation, a, b, c) => {
    try {
      const result = operations[operation](a, b, c);
      return '+' + takeNotes() + '\n' + result;
    } catch (thrown) {
      if (isExhausted(thrown)) throw thrown;
      return '!' + takeNotes() + '\n' + stringify(failure(thrown, operation));
    }
  };
}
