import { fromBytes, type Bytes } from '../base/bytes.js';
import { notFound, Refusal } from '../base/errors.js';
import type { Rev } from '../revisions/rev.js';
import type { DdocProgram } from '../script/script-host.js';
import { decodeWinner, type WinnerView } from '../shard/doc-record.js';
import { docText } from '../shard/doc-text.js';
import { prefixEnd } from '../storage/store.js';
import { spaceOf } from '../views/index-job.js';
import type { Database } from './database.js';
import { designPrefix } from './document-input.js';

/** A design document as its functions are called. */
export interface DesignDoc {
  id: Bytes;
  rev: Rev;
  program: DdocProgram;
  value: Readonly<Record<string, unknown>>;
}

/** By what name the functions of a database are kept apart from those of others. */
export const scriptSpace = ({ record }: Database): string => spaceOf(record.instance);

/** Design documents that were called lately, by database and revision, the longest unused first. */
const recent = new Map<string, DesignDoc>();
const recentMax = 32;
const recentBytesMax = 1_000_000;

/** The design document of that name; refuses where there is none. */
export function openDesignDoc(database: Database, name: Bytes): DesignDoc {
  const id = designPrefix + name;
  const found = database.collection.winner(id);
  if (found === undefined) throw notFound('missing');
  if (found.deleted) throw notFound('deleted');
  const key = `${database.record.instance} ${programId(id, found)}`;
  const doc = recent.get(key) ?? designDoc(database, id, found);
  recent.delete(key);
  if (doc.program.json.length <= recentBytesMax) recent.set(key, doc);
  if (recent.size > recentMax) recent.delete(recent.keys().next().value!);
  return doc;
}

const programId = (id: Bytes, { pos, hash }: Rev): string => `${id}@${pos}-${hash}`;

function designDoc(database: Database, id: Bytes, winner: WinnerView): DesignDoc {
  const content = winner.body ?? database.collection.winnerBody(database.shardOf(id), winner);
  const json = docText(id, winner, content, '');
  const value = JSON.parse(fromBytes(json)) as Record<string, unknown>;
  const rev = { pos: winner.pos, hash: winner.hash };
  return { id, rev, program: { id: programId(id, rev), json }, value };
}

/** JavaScript is the one language that functions can be in; a design document that names none means it. */
export function requireJavascript({ language }: Readonly<Record<string, unknown>>): void {
  if (language === undefined || language === 'javascript') return;
  throw new Refusal('unknown_query_language', `Functions in ${JSON.stringify(language)} cannot be run.`);
}

interface Validators {
  /** The state of the design documents for which they were looked for. */
  changes: number;
  programs: readonly DdocProgram[];
}

const validators = new WeakMap<Database, Validators>();

/** The design documents whose `validate_doc_update` every document has to pass, in their order. */
export function validatorsOf(database: Database): readonly DdocProgram[] {
  const { designChanges } = database.collection;
  const known = validators.get(database);
  if (known?.changes === designChanges) return known.programs;
  const programs: DdocProgram[] = [];
  for (const { program, value } of liveDesignDocs(database)) {
    if (typeof value['validate_doc_update'] === 'string') programs.push(program);
  }
  validators.set(database, { changes: designChanges, programs });
  return programs;
}

function* liveDesignDocs(database: Database): Generator<DesignDoc> {
  const { store, keys } = database.collection;
  const start = keys.livePrefix + designPrefix;
  for (const { key, value } of store.entries({ start, end: prefixEnd(start) })) {
    const winner = decodeWinner(value);
    yield designDoc(database, winner.longId ?? key.slice(keys.livePrefix.length), winner);
  }
}
