import { asBytes, type Bytes } from '../base/bytes.js';
import { RawFields } from '../json/raw-fields.js';
import { rawName, rawValue, type RawName } from '../json/raw-value.js';
import { arrayIndex, parseField } from './field-path.js';

type Path = readonly RawName[];

/** A document with some of its fields only, as text. What the document lacks is left out. */
export class Projection {
  readonly #paths: readonly Path[];
  readonly #fields: RawFields;

  constructor(fields: readonly string[]) {
    this.#paths = fields.map(pathOf);
    this.#fields = new RawFields(this.#paths);
  }

  /** Of a whole document. */
  of(text: Bytes): Bytes {
    const values = this.#fields.of(text);
    return textOf(this.#paths.map((path, i) => [path, values[i]]));
  }
}

/** The same where the values stand in the key of an index. */
export class KeyProjection {
  /** Each field, with its place in the key; undefined for the id. */
  readonly #fields: readonly { path: Path; place: Path | undefined }[];

  constructor(fields: readonly string[], columns: readonly string[]) {
    this.#fields = fields.map((field) => ({
      path: pathOf(field),
      place: field === '_id' ? undefined : [rawName('', columns.indexOf(field))],
    }));
  }

  of(quotedId: Bytes, keyText: Bytes): Bytes {
    return textOf(
      this.#fields.map(({ path, place }) => [
        path,
        place === undefined ? quotedId : rawValue(keyText, place),
      ]),
    );
  }
}

const pathOf = (field: string): Path => parseField(field).map((name) => rawName(name, arrayIndex(name)));

type Shape = Map<string, { quoted: Bytes; value: Bytes | Shape }>;

/** Elements of arrays become members named by their numbers, as in CouchDB. */
function textOf(values: readonly [Path, Bytes | undefined][]): Bytes {
  const root: Shape = new Map();
  for (const [path, value] of values) if (value !== undefined) put(root, path, value);
  return shapeText(root);
}

function put(root: Shape, path: Path, value: Bytes): void {
  let shape = root;
  for (const [depth, { name, quoted }] of path.entries()) {
    const held = shape.get(name);
    if (depth === path.length - 1) {
      shape.set(name, { quoted, value });
      return;
    }
    // A field that is there as a whole has this part of it, too.
    if (typeof held?.value === 'string') return;
    const next: Shape = held?.value ?? new Map();
    if (held === undefined) shape.set(name, { quoted, value: next });
    shape = next;
  }
}

function shapeText(shape: Shape): Bytes {
  const members = [...shape.values()].map(
    ({ quoted, value }) => `${quoted}:${typeof value === 'string' ? value : shapeText(value)}`,
  );
  return asBytes(`{${members.join(',')}}`);
}
