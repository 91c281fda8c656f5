import type { Bytes } from '../base/bytes.js';
import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { decodeChange, isDeletedChange, plainChangeId, plainChangePos } from '../shard/change-record.js';
import { decodeDocRecord, decodeWinner } from '../shard/doc-record.js';
import type { Database } from '../node/database.js';
import { conflictsMember, deletedMember, docText, quoteId, quoteRev } from '../shard/doc-text.js';
import type { OpenedDoc } from '../documents/open-doc.js';
import type { Show } from '../node/read-gate.js';
import type { ChangeEntry } from './merge-changes.js';

/** What a feed shows of each change. */
export interface RowOptions {
  /** All leaves of a document, not the winner alone. */
  allLeaves: boolean;
  includeDocs: boolean;
  /** With the documents: the leaves that did not win. */
  conflicts: boolean;
  encodingInfo: boolean;
  /** Hides what the user must not see of documents. */
  show: Show | undefined;
  /** Makes of a document's text what is shown of it; undefined for all of it. */
  trim: ((text: Bytes) => Bytes) | undefined;
}

/** Makes the row of a change, whose sequence comes as JSON. Gives undefined where there is nothing to show. */
export type RowText = (entry: ChangeEntry, seq: Bytes) => Bytes | undefined;

/** The rows of `_changes`. */
export function changeRows(database: Database, options: RowOptions): RowText {
  const { includeDocs, allLeaves, encodingInfo, trim } = options;
  if (!includeDocs) return (entry, seq) => asBytes(rowHead(entry, seq, allLeaves) + '}');
  return (entry, seq) => {
    const doc = changedDoc(database, entry, options);
    if (doc === undefined) return undefined;
    const text =
      doc === null ? asBytes('null') : docText(doc.id, doc.rev, doc.content, doc.extra, encodingInfo);
    const shown = doc === null || trim === undefined ? text : trim(text);
    return asBytes(`${rowHead(entry, seq, allLeaves)},"doc":${shown}}`);
  };
}

/** A row without its document and its closing brace. */
export function rowHead({ value, revs }: ChangeEntry, seq: Bytes, allLeaves: boolean): Bytes {
  const pos = revs === undefined ? plainChangePos(value) : undefined;
  if (pos !== undefined) {
    const id = quoteId(value.slice(plainChangeId));
    const end = isDeletedChange(value) ? '"}],"deleted":true' : '"}]';
    return asBytes(
      `{"seq":${seq},"id":${id},"changes":[{"rev":"${pos}-${value.slice(4, plainChangeId)}${end}`,
    );
  }
  const { id, leaves, deleted } = decodeChange(value);
  const shown = revs ?? (allLeaves ? leaves : leaves.slice(0, 1));
  const list = shown.map((each) => `{"rev":${quoteRev(each)}}`).join(',');
  return asBytes(`{"seq":${seq},"id":${quoteId(id)},"changes":[${list}]${deleted ? ',"deleted":true' : ''}`);
}

/**
 * The document of a change; null where the user must not see it, undefined where it has changed again, for then that
 * later change will show it.
 */
export function changedDoc(
  { collection }: Database,
  { shard, seq, value }: ChangeEntry,
  { conflicts, show }: Pick<RowOptions, 'conflicts' | 'show'>,
): OpenedDoc | null | undefined {
  const deleted = isDeletedChange(value);
  const id = plainChangePos(value) === undefined ? decodeChange(value).id : value.slice(plainChangeId);
  const bytes = deleted ? collection.deletedRecord(id) : collection.liveRecord({ id });
  if (bytes === undefined) return undefined;
  const view = decodeWinner(bytes);
  if (view.seq !== seq) return undefined;
  let extra: string = deleted ? deletedMember : '';
  if (conflicts && view.conflicted) extra += conflictsMember(decodeDocRecord(bytes));
  const stored = collection.winnerBody(shard, view);
  const content = show === undefined ? stored : show(id, stored);
  return content instanceof RequestError
    ? null
    : { id, rev: view, content, extra: asBytes(extra), plain: true };
}

const eventId = /^(created|updated|deleted):(.+)$/s;

/** The rows of `_db_updates`: documents of the database of events, whose ids tell all there is. */
export const eventRows: RowText = ({ value }, seq) => {
  if (isDeletedChange(value)) return undefined;
  const [, type, name] = eventId.exec(fromBytes(decodeChange(value).id)) ?? [];
  if (name === undefined) return undefined;
  return asBytes(`{"db_name":${toBytes(JSON.stringify(name))},"type":"${type}","seq":${seq}}`);
};
