import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { leaves, type RevNode } from '../revisions/tree.js';
import { hasAttachments, splitContent, type Attachment } from './content.js';
import type { DocRecord } from './doc-record.js';

/**
 * Documents as JSON text, put together from stored pieces: nothing is parsed or serialized again. `content` is
 * what is kept of the revision; its attachments are shown as stubs.
 */
export function docText(id: Bytes, rev: Rev, content: Bytes, extra: Bytes, encodingInfo = false): Bytes {
  const isPlain = extra === '' && content.length > 2 && !hasAttachments(content);
  // In few parts: when the text is written, each costs about as much as the bytes of a small document.
  if (isPlain && isPlainText(id) && plainHash.test(rev.hash))
    return asBytes(`{"_id":"${id}` + `","_rev":"${rev.pos}-` + `${rev.hash}",${content.slice(1)}`);
  return quotedText(quoteId(id), quoteRev(rev), content, extra, encodingInfo);
}

/** The same for callers that have the id and the revision as JSON already. */
export function quotedText(
  id: Bytes,
  rev: Bytes,
  content: Bytes,
  extra: Bytes,
  encodingInfo: boolean,
): Bytes {
  if (hasAttachments(content)) {
    const { attachments, body } = splitContent(content);
    return quotedText(id, rev, body, asBytes(extra + stubsMember(attachments, encodingInfo)), encodingInfo);
  }
  if (content.length === 2) return asBytes(`{"_id":${id},"_rev":${rev}${extra}}`);
  if (extra === '') return asBytes(`{"_id":${id},"_rev":${rev},${content.slice(1)}`);
  return asBytes(`{"_id":${id},"_rev":${rev},${content.slice(1, -1)}${extra}}`);
}

/** The row of a listing that shows a document by its revision alone, which is JSON. In few parts, as above. */
export function shortRow(id: Bytes, rev: Bytes): Bytes {
  if (isPlainText(id)) return asBytes(`{"id":"${id}","key":"${id}","value":{"rev":${rev}}}`);
  const quoted = quoteId(id);
  return asBytes(`{"id":${quoted},"key":${quoted},"value":{"rev":${rev}}}`);
}

function stubsMember(attachments: readonly Attachment[], encodingInfo: boolean): Bytes {
  return asBytes(
    `,"_attachments":{${attachments.map((each) => attachmentEntry(each, 'stub', encodingInfo)).join(',')}}`,
  );
}

/** As a stub, as one whose bytes follow in a part of their own, or with a place for its bytes, marked by a NUL. */
export type EntryForm = 'stub' | 'follows' | 'data';

export function attachmentEntry(attachment: Attachment, form: EntryForm, encodingInfo: boolean): Bytes {
  const { name, type, revpos, md5, length, storedLength, gzip } = attachment;
  const head = `${JSON.stringify(name)}:{"content_type":${JSON.stringify(type)},"revpos":${revpos},"digest":"md5-${md5}"`;
  const rest = form === 'data' ? ',"data":"\0"' : `,"length":${length},"${form}":true`;
  const encoding = encodingInfo && gzip ? `,"encoding":"gzip","encoded_length":${storedLength}` : '';
  return asBytes(`${toBytes(head)}${rest}${encoding}}`);
}

/** An id, which is UTF-8, as a JSON string. */
export function quoteId(id: Bytes): Bytes {
  return isPlainText(id) ? asBytes(`"${id}"`) : toBytes(JSON.stringify(fromBytes(id)));
}

/** Whether JSON has the text as it is: ASCII without quotation marks, backslashes and controls. */
export const isPlainText = (text: Bytes): boolean => plainText.test(text);

const plainText = /^[ !#-[\]-~]*$/;

const plainHash = /^[\w.-]*$/;

export function quoteRev({ pos, hash }: Rev): Bytes {
  return plainHash.test(hash) ? asBytes(`"${pos}-${hash}"`) : toBytes(JSON.stringify(`${pos}-${hash}`));
}

export const deletedMember = asBytes(',"_deleted":true');

/** `_revisions` of a path, the newest first. */
export function revisionsMember(path: readonly Rev[]): Bytes {
  const ids = path.map(({ hash }) => JSON.stringify(hash)).join(',');
  return asBytes(`,"_revisions":{"start":${path[0]?.pos ?? 0},"ids":[${toBytes(ids)}]}`);
}

export function revsInfoMember(path: readonly RevNode[]): Bytes {
  const rows = path.map((node) => `{"rev":${quoteRev(node)},"status":"${statusOf(node)}"}`);
  return asBytes(`,"_revs_info":[${rows.join(',')}]`);
}

function statusOf({ body, deleted }: RevNode): string {
  if (body === 0) return 'missing';
  return deleted ? 'deleted' : 'available';
}

function revsMember(name: string, revs: readonly Rev[]): Bytes {
  return revs.length === 0 ? noBytes : asBytes(`,"${name}":[${revs.map(quoteRev).join(',')}]`);
}

/** The live leaves that lost, if there are any. */
export function conflictsMember(doc: Pick<DocRecord, 'conflicted' | 'tree'>): Bytes {
  return otherLeaves(doc, '_conflicts', false);
}

export function deletedConflictsMember(doc: Pick<DocRecord, 'conflicted' | 'tree'>): Bytes {
  return otherLeaves(doc, '_deleted_conflicts', true);
}

function otherLeaves(
  { conflicted, tree }: Pick<DocRecord, 'conflicted' | 'tree'>,
  name: string,
  deleted: boolean,
): Bytes {
  if (!conflicted) return noBytes;
  const others = leaves(tree).slice(1);
  return revsMember(
    name,
    others.filter((leaf) => leaf.deleted === deleted),
  );
}
