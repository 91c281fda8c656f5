import { createHash } from 'node:crypto';
import { asBytes, fromBytes, noBytes, type Bytes } from '../base/bytes.js';
import { notFound, RequestError } from '../base/errors.js';
import { MemberPicker } from '../json/raw-fields.js';
import type { WinnerView } from '../shard/doc-record.js';
import { docText } from '../shard/doc-text.js';
import { designDocs as walkDesignDocs } from '../shard/walk-docs.js';
import { spaceOf } from '../indexes/index-job.js';
import type { Database } from '../node/database.js';
import type { DesignDoc, Validator } from '../node/design-doc-cache.js';
import { designPrefix } from '../shard/doc-id.js';

/** By what name the functions of a database are kept apart from those of others. */
export const scriptSpace = ({ record }: Database): string => spaceOf(record.instance);

/** The design document of that name; refuses where there is none. */
export function openDesignDoc(database: Database, name: Bytes): DesignDoc {
  const { collection, designDocs } = database;
  const id = asBytes(designPrefix + name);
  const known = designDocs.get(database, id);
  if (known !== undefined) return known;
  const found = collection.winner(id);
  if (found === undefined) throw notFound('missing');
  if (found.deleted) throw notFound('deleted');
  const doc = designDoc(database, id, found);
  designDocs.set(database, doc);
  return doc;
}

function designDoc(database: Database, id: Bytes, winner: WinnerView): DesignDoc {
  const json = jsonOf(database, id, winner);
  const value = JSON.parse(fromBytes(json)) as Record<string, unknown>;
  return { id, program: { id: programId(json), json }, value };
}

function jsonOf(database: Database, id: Bytes, winner: WinnerView): Bytes {
  const content = winner.body ?? database.collection.winnerBody(database.shardOf(id), winner);
  return docText(id, winner, content, noBytes);
}

/** By content: the same revision may come back with another body once it has been purged. */
const programId = (json: Bytes): string => createHash('sha256').update(json, 'latin1').digest('base64');

/** JavaScript is the one language that functions can be in; a design document that names none means it. */
const isJavascript = ({ language }: Readonly<Record<string, unknown>>): boolean =>
  language === undefined || language === 'javascript';

export function requireJavascript(ddoc: Readonly<Record<string, unknown>>): void {
  if (!isJavascript(ddoc)) throw unknownLanguage(String(ddoc['language']));
}

export const unknownLanguage = (language: string): RequestError =>
  new RequestError('unknown_query_language', language);

/**
 * The design documents whose `validate_doc_update` every document has to pass, in their order. The list is the same
 * object until one of them changes.
 */
export function validatorsOf(database: Database): readonly Validator[] {
  const { designChanges } = database.collection;
  const { validators } = database;
  if (validators?.changes === designChanges) return validators.list;
  const byChange = new Map<string, Validator | undefined>();
  for (const { id, winner } of walkDesignDocs(database.collection)) {
    // Sequences are those of a shard, and shards are numbered anew when they are split or divided.
    const { pos, hash, seq } = winner;
    const change = `${id} ${pos}-${hash} ${database.shardOf(id)} ${seq}`;
    byChange.set(
      change,
      validators?.byChange.has(change) ? validators.byChange.get(change) : validatorOf(database, id, winner),
    );
  }
  const found = [...byChange.values()].filter((each) => each !== undefined);
  const same =
    found.length === validators?.list.length && found.every((each, i) => each === validators.list[i]);
  const list = same ? validators.list : found;
  const digest = same ? validators.digest : digestOf(found);
  database.validators = { changes: designChanges, byChange, list, digest };
  return list;
}

/** Of all that the validation functions can see of their design documents, in their order. */
export function validatorsDigest(database: Database): Bytes {
  validatorsOf(database);
  return database.validators!.digest;
}

const digestOf = (validators: readonly Validator[]): Bytes =>
  validators.length === 0
    ? noBytes
    : asBytes(
        createHash('sha256')
          .update(validators.map(({ program }) => program.id).join())
          .digest('latin1'),
      );

/** Nothing else of a design document is parsed for it: it may be large. */
const validatorMembers = new MemberPicker(['validate_doc_update', 'language']);

function validatorOf(database: Database, id: Bytes, winner: WinnerView): Validator | undefined {
  const json = jsonOf(database, id, winner);
  const value = JSON.parse(fromBytes(validatorMembers.of(json))) as Record<string, unknown>;
  if (typeof value['validate_doc_update'] !== 'string') return undefined;
  const program = { id: programId(json), json };
  return { program, refusal: isJavascript(value) ? undefined : unknownLanguage(String(value['language'])) };
}
