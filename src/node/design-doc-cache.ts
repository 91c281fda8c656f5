import type { Bytes } from '../base/bytes.js';
import type { RequestError } from '../base/errors.js';
import type { DdocProgram } from '../script/script-host.js';
import type { LocalReader } from '../shard/group-reader.js';

/** A design document as its functions are called. */
export interface DesignDoc {
  id: Bytes;
  program: DdocProgram;
  value: Readonly<Record<string, unknown>>;
}

/** A design document with a validation function. */
export interface Validator {
  program: DdocProgram;
  /** What every document gets where the function is in a language that cannot be run. */
  refusal: RequestError | undefined;
}

/** What is known of the validation functions of a database. */
export interface Validators {
  /** The count of changes of design documents at that time. */
  changes: number;
  /** What each design document has, by the document, its revision and its last change. */
  byChange: ReadonlyMap<string, Validator | undefined>;
  list: readonly Validator[];
  /** Of all of them; empty where there are none. */
  digest: Bytes;
}

/** The database of a design document. */
interface Home {
  readonly record: { readonly instance: number };
  readonly collection: LocalReader;
}

interface Entry {
  /** An open database counts its changes from 0, so a count means something for the same object only. */
  collection: LocalReader;
  /** The count of changes of design documents when this one was read. */
  changes: number;
  doc: DesignDoc;
}

const docsMax = 32;
const docBytesMax = 1_000_000;

/** The design documents of one node that were called lately, parsed. */
export class DesignDocCache {
  /** By database and id, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** How often a design document was there, and how often it was not. */
  hits = 0;
  misses = 0;

  /** The design document, if it has not changed since it was remembered. */
  get(home: Home, id: Bytes): DesignDoc | undefined {
    const found = this.#find(home, id);
    if (found === undefined) this.misses++;
    else this.hits++;
    return found;
  }

  #find({ record, collection }: Home, id: Bytes): DesignDoc | undefined {
    const key = keyOf(record, id);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.collection !== collection || entry.changes !== collection.designChanges) return undefined;
    this.#entries.set(key, entry);
    return entry.doc;
  }

  set({ record, collection }: Home, doc: DesignDoc): void {
    if (doc.program.json.length > docBytesMax) return;
    if (this.#entries.size >= docsMax) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(keyOf(record, doc.id), { collection, changes: collection.designChanges, doc });
  }
}

const keyOf = ({ instance }: Home['record'], id: Bytes): string => `${instance} ${id}`;
