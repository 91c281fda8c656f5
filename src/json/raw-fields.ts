import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { comma, quote, rawName, stringEnd, valueEnd, type RawName } from './raw-value.js';

/** A path, and its place among those that are asked for. */
interface Wanted {
  readonly at: number;
  readonly path: readonly RawName[];
}

/**
 * What is looked for from a place on: the paths that lead there. A name that is a number leads on in an object and in an
 * array, so what follows is made when there is one or the other; all ways together would be too many.
 */
class Branch {
  /** The places of the value itself among those that are asked for. */
  readonly here: number[] = [];
  readonly #further: Wanted[] = [];
  #members: Members | undefined;
  #elements: Map<number, Branch> | undefined;

  constructor(
    wanted: readonly Wanted[],
    private readonly depth: number,
  ) {
    for (const each of wanted) {
      if (each.path.length === depth) this.here.push(each.at);
      else this.#further.push(each);
    }
  }

  get leadsOn(): boolean {
    return this.#further.length > 0;
  }

  get members(): Members {
    return (this.#members ??= new Members(this.#next(({ quoted }) => quoted)));
  }

  get elements(): ReadonlyMap<number, Branch> {
    return (this.#elements ??= this.#next(({ index }) => index));
  }

  #next<K>(keyOf: (name: RawName) => K | undefined): Map<K, Branch> {
    const groups = new Map<K, Wanted[]>();
    for (const each of this.#further) {
      const key = keyOf(each.path[this.depth]!);
      if (key === undefined) continue;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [each]);
      else group.push(each);
    }
    return new Map([...groups].map(([key, group]) => [key, new Branch(group, this.depth + 1)]));
  }
}

/** So many names are compared with each key of a text; for more of them, the key is looked up. */
const comparedMax = 4;

/** The branches of an object by name, as JSON. */
class Members {
  readonly #few: readonly (readonly [Bytes, Branch])[] | undefined;

  constructor(private readonly byName: ReadonlyMap<Bytes, Branch>) {
    if (byName.size <= comparedMax) this.#few = [...byName];
  }

  /** The branch of the key between two places of a text. */
  find(text: Bytes, start: number, end: number): Branch | undefined {
    if (this.#few === undefined) return this.byName.get(text.slice(start, end));
    for (const [name, branch] of this.#few)
      if (name.length === end - start && text.startsWith(name, start)) return branch;
    return undefined;
  }

  findEscaped(key: Bytes): Branch | undefined {
    return this.byName.get(plain(key));
  }
}

/**
 * Takes many values out of a JSON text in one pass over it, each as `rawValue` would. The pass ends when all are found.
 * The text must be sound, without white space, and have no two members of one name, as stored documents are.
 */
export class RawFields {
  readonly #root: Branch;
  readonly #count: number;
  #text: Bytes = noBytes;
  #values: (Bytes | undefined)[] = [];
  #left = 0;
  /** Known when the first name is not found as it stands. */
  #hasEscapes: boolean | undefined;

  constructor(paths: readonly (readonly RawName[])[]) {
    this.#count = paths.length;
    this.#root = new Branch(
      paths.map((path, at) => ({ at, path })),
      0,
    );
  }

  of(text: Bytes): (Bytes | undefined)[] {
    const values = new Array<Bytes | undefined>(this.#count).fill(undefined);
    this.#text = text;
    this.#values = values;
    this.#left = this.#count;
    this.#hasEscapes = undefined;
    this.#take(0, this.#root);
    this.#text = noBytes;
    this.#values = [];
    return values;
  }

  /** Takes what is wanted of the value that begins here. Gives the place behind it, or -1 when nothing is left to find. */
  #take(start: number, branch: Branch): number {
    const text = this.#text;
    const first = text.charCodeAt(start);
    let end = -1;
    if (first === openBrace && branch.leadsOn) end = this.#takeMembers(start, branch);
    else if (first === openBracket && branch.leadsOn) end = this.#takeElements(start, branch);
    if (branch.here.length > 0) {
      if (end < 0) end = valueEnd(text, start);
      const value = text.slice(start, end);
      for (const at of branch.here) this.#values[at] = value;
      this.#left -= branch.here.length;
    }
    if (this.#left === 0) return -1;
    return end < 0 ? valueEnd(text, start) : end;
  }

  #takeMembers(open: number, { members }: Branch): number {
    const text = this.#text;
    let at = open + 1;
    while (text.charCodeAt(at) === quote) {
      const keyEnd = stringEnd(text, at);
      const branch = members.find(text, at, keyEnd) ?? this.#escaped(at, keyEnd, members);
      at = branch === undefined ? valueEnd(text, keyEnd + 1) : this.#take(keyEnd + 1, branch);
      if (at < 0) return -1;
      if (text.charCodeAt(at) === comma) at++;
    }
    return at + 1;
  }

  /** A key with escapes may stand for a name that does without. */
  #escaped(start: number, end: number, members: Members): Branch | undefined {
    if (!(this.#hasEscapes ??= this.#text.includes('\\'))) return undefined;
    const key = this.#text.slice(start, end);
    return key.includes('\\') ? members.findEscaped(key) : undefined;
  }

  #takeElements(open: number, { elements }: Branch): number {
    const text = this.#text;
    let at = open + 1;
    if (text.charCodeAt(at) === closeBracket) return at + 1;
    for (let index = 0, found = 0; ; index++) {
      const branch = found < elements.size ? elements.get(index) : undefined;
      if (branch !== undefined) found++;
      at = branch === undefined ? valueEnd(text, at) : this.#take(at, branch);
      if (at < 0) return -1;
      if (text.charCodeAt(at) !== comma) return at + 1;
      at++;
    }
  }
}

/** Takes some members out of the text of a document, as the text of one that has nothing else. */
export class MemberPicker {
  readonly #names: readonly RawName[];
  readonly #fields: RawFields;

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => rawName(name, undefined));
    this.#fields = new RawFields(this.#names.map((name) => [name]));
  }

  of(text: Bytes): Bytes {
    const values = this.#fields.of(text);
    const members = this.#names.flatMap(({ quoted }, i) =>
      values[i] === undefined ? [] : [`${quoted}:${values[i]}`],
    );
    return asBytes(`{${members.join(',')}}`);
  }
}

/** A key with escapes as `rawName` writes it. */
const plain = (key: Bytes): Bytes => toBytes(JSON.stringify(JSON.parse(fromBytes(key))));

const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;
