/**
 * Parsing documents takes most of the time of a map function. Two things that its source tells save much of it:
 *
 * - which members of the document it can look at. Where every mention of its parameter is of the form `doc.name`, the
 *   others need not be handed over: `function (doc) { emit(doc.type, doc.total) }` is given two members out of twenty.
 * - whether it could change the document. Functions that don't can share one; each of the others gets its own, so that no
 *   function sees what another did.
 *
 * The looks are at the text, and narrow: whatever they don't recognise gets the whole document, to itself.
 */
export interface MapPlan {
  /** Functions that are run on the same documents, by their places. */
  groups: readonly MapGroup[];
}

export interface MapGroup {
  which: readonly number[];
  /** The members that the functions look at; undefined for all. */
  members: ReadonlySet<string> | undefined;
}

export function planMaps(sources: readonly string[], hasModules: boolean): MapPlan {
  // A module, or a changed prototype, may do anything with what it gets hold of.
  const wary = hasModules || sources.some((source) => wordsOfReach.test(source));
  const looks = sources.map((source) => (wary ? undefined : membersLookedAt(source)));
  const shared = sources.flatMap((source, at) => (isHarmless(source) ? [at] : []));
  const groups: MapGroup[] = shared.length === 0 ? [] : [{ which: shared, members: union(shared, looks) }];
  for (const at of sources.keys()) if (!shared.includes(at)) groups.push({ which: [at], members: looks[at] });
  return { groups };
}

function union(
  which: readonly number[],
  looks: readonly (ReadonlySet<string> | undefined)[],
): ReadonlySet<string> | undefined {
  const members = new Set<string>();
  for (const at of which) {
    const look = looks[at];
    if (look === undefined) return undefined;
    for (const name of look) members.add(name);
  }
  return members;
}

/** Ways to a function's arguments, or to all objects at once, that don't mention the parameter. */
const wordsOfReach =
  /\b(?:arguments|eval|Function|require|prototype|(?:get|set)PrototypeOf|__\w+__|constructor|caller|import)\b|\\u|`/;

/** Members that all objects have, and that give away the object itself. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype));

const name = '[A-Za-z_$][\\w$]*';
const heads = [
  new RegExp(`^\\s*function\\s*(?:${name})?\\s*\\(\\s*(${name})\\s*\\)\\s*\\{`),
  new RegExp(`^\\s*\\(\\s*(${name})\\s*\\)\\s*=>`),
  new RegExp(`^\\s*(${name})\\s*=>`),
];
const member = new RegExp(`\\s*(?:\\??\\.\\s*(${name})|\\[\\s*(["'])([\\w$ .:@-]+)\\2\\s*\\])`, 'y');
const wordCharacter = /[\w$]/;

/** The members of the document that a function mentions; undefined where it may look at all of them. */
function membersLookedAt(source: string): ReadonlySet<string> | undefined {
  const head = heads.map((pattern) => pattern.exec(source)).find((found) => found !== null);
  if (head === undefined || head === null) return undefined;
  const parameter = head[1]!;
  const members = new Set<string>();
  for (let at = head[0].length; (at = source.indexOf(parameter, at)) >= 0;) {
    const before = source[at - 1]!;
    at += parameter.length;
    if (wordCharacter.test(before) || wordCharacter.test(source[at] ?? '')) continue;
    member.lastIndex = at;
    const [, plain, , quoted] = member.exec(source) ?? [];
    const found = plain ?? quoted;
    if (before === '.' || found === undefined || inherited.has(found)) return undefined;
    members.add(found);
  }
  return members;
}

/** Words by which objects are changed without an assignment. */
const wordsOfChange = new RegExp(
  '\\b(?:' +
    [
      ...['delete', 'with', 'Object', 'Reflect', 'Proxy', 'call', 'apply', 'bind'],
      ...['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin', 'set', 'add'],
    ].join('|') +
    ')\\b',
);
/** The result of a computed look-up may be any method. */
const computedCall = /\]\s*(?:\?\.\s*)?\(/;
/** The variable of a loop that is declared elsewhere may be a member. */
const undeclaredLoop = /\bfor\s*\(\s*(?!(?:var|let|const)\b)[^;)]*\b(?:in|of)\b/;
const countedVariable = new RegExp(
  `(?<=[;,({}]\\s*)(?:${name}\\s*(?:\\+\\+|--)|(?:\\+\\+|--)\\s*${name})(?=\\s*[;,)}])`,
  'g',
);
/** A variable at the end of the text: something that is no member of anything. */
const plainVariable = new RegExp(`[^.\\w$\\s?/]\\s*(?:(?:var|let|const)\\s+)?${name}\\s*$`);

/** Whether nothing in a function's text could change the document it is given. */
function isHarmless(source: string): boolean {
  if (/[^\x00-\x7f]/.test(source) || wordsOfReach.test(source) || wordsOfChange.test(source)) return false;
  if (computedCall.test(source) || undeclaredLoop.test(source)) return false;
  if (/\+\+|--/.test(source.replace(countedVariable, ''))) return false;
  for (let at = -1; (at = source.indexOf('=', at + 1)) >= 0;) {
    if (isComparison(source, at)) continue;
    if (!plainVariable.test(source.slice(0, at).replace(/[-+*/%&|^<>?]{0,3}$/, ''))) return false;
  }
  return true;
}

/** Whether an equals sign belongs to a comparison or an arrow. */
function isComparison(source: string, at: number): boolean {
  const [twoBefore, before, after] = [source[at - 2], source[at - 1], source[at + 1]];
  if (after === '=' || after === '>' || before === '=' || before === '!') return true;
  return (before === '<' || before === '>') && before !== twoBefore;
}
