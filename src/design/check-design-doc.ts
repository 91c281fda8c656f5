import { fromBytes } from '../base/bytes.js';
import { FunctionError, notFound, RequestError } from '../base/errors.js';
import { MemberPicker } from '../json/raw-fields.js';
import type { ScriptHost, ScriptValue } from '../script/script-host.js';
import { splitContent } from '../shard/content.js';
import { builtinFold, namesBuiltin, rankProblem } from '../indexes/reduce/builtin.js';
import { scriptSpace } from './design-functions.js';
import { isDesignId } from '../shard/doc-id.js';
import type { SaveGate } from '../node/save-gate.js';

/** Refuses design documents that are of the wrong form, or whose views cannot be compiled. */
export function designDocGate(scripts: ScriptHost): SaveGate {
  return {
    concerns: (_, id) => isDesignId(id),
    check: async (database, input) => {
      const ddoc = JSON.parse(fromBytes(formMembers.of(splitContent(input.body).body))) as Members;
      const functions = checkForm(ddoc);
      if (functions.length === 0) return input;
      const sources = functions.map(({ source }) => source);
      const values = await scripts.check(scriptSpace(database), sources);
      for (const [i, value] of values.entries()) checkCompiled(functions[i]!, value);
      return input;
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

/** A function of a view, to be compiled. */
interface ViewFunction {
  view: string;
  kind: 'map' | 'reduce';
  source: string;
}

function checkCompiled({ view, kind }: ViewFunction, value: ScriptValue): void {
  if ('ok' in value) return;
  if (value.error === 'not_found') throw notFound(String(value.reason));
  if (value.error !== 'compilation_error') throw new FunctionError(value.error, value.reason);
  throw new RequestError(
    'compilation_error',
    `Compilation of the ${kind} function in the '${view}' view failed: ${String(value.reason)}`,
  );
}

type Kind = 'object' | 'array' | 'string' | 'boolean';

/** What each member may be, if it is there; for some, what each of their members may be. */
const forms: Readonly<Record<string, { kinds: readonly Kind[]; each?: readonly Kind[] }>> = {
  language: { kinds: ['string'] },
  options: { kinds: ['object'] },
  filters: { kinds: ['object'], each: ['string', 'object'] },
  lists: { kinds: ['object'], each: ['string', 'object'] },
  shows: { kinds: ['object'], each: ['string', 'object'] },
  updates: { kinds: ['object'], each: ['string', 'object'] },
  rewrites: { kinds: ['array', 'string'] },
  validate_doc_update: { kinds: ['string'] },
  views: { kinds: ['object'], each: ['object'] },
};

/** What else a design document holds, which may be a lot, is not parsed. */
const formMembers = new MemberPicker(Object.keys(forms));

/** Refuses members of the wrong type. Gives the functions of views that are in JavaScript. */
function checkForm(ddoc: Members): ViewFunction[] {
  for (const [name, { kinds, each }] of Object.entries(forms)) {
    const value = memberOf(ddoc, name);
    if (value === undefined) continue;
    requireKind(name, value, kinds);
    if (each === undefined) continue;
    for (const [key, member] of Object.entries(value as Members)) requireKind(`${name}.${key}`, member, each);
  }
  const options = (memberOf(ddoc, 'options') ?? {}) as Members;
  for (const name of ['include_design', 'local_seq', 'partitioned']) {
    const value = memberOf(options, name);
    if (value !== undefined) requireKind(`options.${name}`, value, ['boolean']);
  }
  const language = memberOf(ddoc, 'language') ?? 'javascript';
  const views = Object.entries((memberOf(ddoc, 'views') ?? {}) as Members).filter(
    // Modules for the functions of views; with a function of its own it is a view too.
    ([name, view]) => name !== 'lib' || memberOf(view as Members, 'map') !== undefined,
  );
  const functions = views.flatMap(([name, view]) => checkView(name, view as Members, language));
  return language === 'javascript' ? functions : [];
}

function checkView(name: string, view: Members, language: unknown): ViewFunction[] {
  const map = memberOf(view, 'map');
  if (map === undefined) throw invalid(`View \`${name}\` must contain map function`);
  requireKind(`views.${name}.map`, map, [language === 'query' ? 'object' : 'string']);
  const reduce = memberOf(view, 'reduce');
  if (reduce !== undefined) requireKind(`views.${name}.reduce`, reduce, ['string']);
  if (typeof map !== 'string') return [];
  const functions: ViewFunction[] = [{ view: name, kind: 'map', source: map }];
  if (typeof reduce !== 'string') return functions;
  if (!namesBuiltin(reduce)) return [...functions, { view: name, kind: 'reduce', source: reduce }];
  if (builtinFold(reduce) !== undefined) return functions;
  throw invalid(rankProblem(reduce) ?? `\`${reduce}\` is not a supported reduce function.`);
}

function requireKind(path: string, value: unknown, kinds: readonly Kind[]): void {
  if (kinds.some((kind) => isKind(value, kind))) return;
  throw invalid(`\`${path}\` field must have ${kinds.join(' or ')} type`);
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === kind;
}

const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

const invalid = (reason: string): RequestError => new RequestError('invalid_design_doc', reason);
