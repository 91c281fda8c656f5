import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { notFound, RequestError } from '../base/errors.js';
import type { Rev } from '../revisions/rev.js';
import { leavesByBranch } from '../revisions/leaf-order.js';
import { find, leavesBelow, pathOf, winner, type RevNode, type RevTree } from '../revisions/tree.js';
import { isInRecord, type DocRecord } from '../shard/doc-record.js';
import type { Database } from '../node/database.js';
import {
  conflictsMember,
  deletedConflictsMember,
  deletedMember,
  docText,
  revisionsMember,
  revsInfoMember,
} from '../shard/doc-text.js';
import { shown, type Show } from '../node/read-gate.js';

/** What a read may ask for beside the document itself. */
export interface DocOptions {
  rev?: Rev | undefined;
  /** The winning revision, whatever `rev` says. */
  latest?: boolean;
  /** A deleted document too, as its tombstone. */
  deleted?: boolean;
  revs?: boolean;
  revsInfo?: boolean;
  conflicts?: boolean;
  deletedConflicts?: boolean;
  localSeq?: boolean;
  /** Hides what the user must not see. */
  show?: Show | undefined;
}

/** One revision, ready to be shown: `docText` makes it text, `docPieces` adds the bytes of attachments. */
export interface OpenedDoc {
  id: Bytes;
  rev: Rev;
  content: Bytes;
  /** Members to be added to the document's own. */
  extra: Bytes;
  /** Whether the text is the document's alone: then its revision can stand for it in an ETag. */
  plain: boolean;
}

/** One revision of a document: the winner, or the one that is asked for. */
export function openDoc(database: Database, id: Bytes, options: DocOptions): OpenedDoc {
  if (options.rev !== undefined && !options.latest) return openRev(database, id, options.rev, options);
  if (options.revs || options.revsInfo || options.conflicts || options.deletedConflicts || options.localSeq) {
    return openWithMeta(database, id, options);
  }
  const { collection } = database;
  const found = collection.winner(id);
  if (found === undefined) throw notFound('missing');
  if (found.deleted && !options.deleted) throw notFound(absence(options));
  const body = found.body ?? collection.winnerBody(database.shardOf(id), found);
  return { id, rev: found, content: shown(options.show, id, body), extra: tombstoneMark(found), plain: true };
}

const tombstoneMark = ({ deleted }: { deleted: boolean }): Bytes => (deleted ? deletedMember : noBytes);

/** Users who see only some documents don't learn which ones were deleted. */
const absence = ({ show }: DocOptions): string => (show === undefined ? 'deleted' : 'missing');

/** The text of a document that is known to be kept, for listings; `null` where the user must not see it. */
export function winnerText(
  database: Database,
  id: Bytes,
  doc: DocRecord,
  conflicts: boolean,
  show: Show | undefined,
): Bytes {
  const content = database.collection.winnerBody(database.shardOf(id), doc);
  const body = show === undefined ? content : show(id, content);
  if (body instanceof RequestError) return asBytes('null');
  const extra = asBytes(tombstoneMark(doc) + (conflicts ? conflictsMember(doc) : ''));
  return docText(id, doc.rev, body, extra);
}

function openWithMeta(database: Database, id: Bytes, options: DocOptions): OpenedDoc {
  const doc = database.collection.doc(id);
  if (doc === undefined) throw notFound('missing');
  if (doc.deleted && !options.deleted) throw notFound(absence(options));
  const best = winner(doc.tree);
  const path = options.revs || options.revsInfo ? pathOf(doc.tree, best) : [];
  let meta = '';
  // Another branch may have kept ancestors beyond the limit: what is left of each is told, `_revisions` are cut.
  if (options.revsInfo) meta += revsInfoMember(path);
  if (options.localSeq) meta += `,"_local_seq":${doc.seq}`;
  if (options.conflicts) meta += conflictsMember(doc);
  if (options.deletedConflicts) meta += deletedConflictsMember(doc);
  const extra = asBytes(
    tombstoneMark(doc) + (options.revs ? revisionsMember(path.slice(0, database.revsLimit)) : '') + meta,
  );
  const body = database.collection.winnerBody(database.shardOf(id), doc);
  return { id, rev: best, content: shown(options.show, id, body), extra, plain: meta === '' };
}

function openRev(database: Database, id: Bytes, rev: Rev, { revs, show }: DocOptions): OpenedDoc {
  const doc = database.collection.doc(id);
  const named = doc && find(doc.tree, rev);
  if (doc === undefined || named === undefined) throw notFound('missing');
  const opened = openNode(database, id, doc, named, revs ?? false, show);
  if (opened === undefined) throw notFound('missing');
  return opened;
}

/** One revision, or undefined where its body is no longer kept. */
function openNode(
  database: Database,
  id: Bytes,
  doc: DocRecord,
  node: RevNode,
  revs: boolean,
  show: Show | undefined,
): OpenedDoc | undefined {
  const stored = database.collection.bodyOnce(database.shardOf(id), doc, node);
  if (stored === undefined) return undefined;
  const content = shown(show, id, stored);
  const path = revs ? revisionsMember(pathOf(doc.tree, node).slice(0, database.revsLimit)) : '';
  return { id, rev: node, content, extra: asBytes(tombstoneMark(node) + path), plain: true };
}

/** A revision that was asked for by name, or that it is missing. */
export type OpenedRev = { ok: OpenedDoc } | { missing: Rev };

/** Revisions of a document, each to be opened when its turn comes: together they may be larger than memory. */
export interface FoundRevs {
  readonly revs: readonly FoundRev[];
  /** One that was superseded since it was found may be missing; where leaves are asked for, what continues it is given. */
  open(rev: FoundRev): OpenedRev;
}

/** So many of a document's revisions, of so many bytes, are opened when they are found: as they are at one moment. */
const openedAtOnce = { revs: 100, bytes: 1024 * 1024 };

export type FoundRev = RevNode | { missing: Rev };

/**
 * Several revisions of a document, or all its leaves; with `latest` the leaves below them, each once. Undefined where there
 * is no such document. `anyOrder`: the caller puts them in order. Replicators ask so, for one document after the other, and for none
 * of them again.
 */
export function findRevs(
  database: Database,
  id: Bytes,
  wanted: readonly Rev[] | 'all',
  { latest = false, revs = false, show, anyOrder = false }: DocOptions & { anyOrder?: boolean },
): FoundRevs | undefined {
  const doc = database.collection.docUncached(id);
  if (doc === undefined) return wanted === 'all' ? undefined : missingRevs(wanted);
  const leafOrder = anyOrder ? unsortedLeaves : leavesByBranch;
  const named =
    wanted === 'all' ? leafOrder(doc.tree) : namedRevs(doc.tree, wanted, latest ? leafOrder : undefined);
  const found = named.map((each) => ('missing' in each || isKept(doc, each) ? each : { missing: each }));
  const open = (each: FoundRev, from = doc): OpenedRev => {
    if ('missing' in each) return each;
    const opened = openNode(database, id, from, each, revs, show);
    return opened === undefined ? { missing: each } : { ok: opened };
  };
  const openLater = (each: FoundRev): OpenedRev => {
    const opened = open(each);
    if ('ok' in opened || 'missing' in each || !(latest || wanted === 'all')) return opened;
    const now = database.collection.docUncached(id);
    const known = now && find(now.tree, each);
    const [leaf] = known === undefined ? [] : leavesBelow(now!.tree, known);
    return leaf === undefined ? opened : open(leaf, now);
  };
  const ready = new Map<FoundRev, OpenedRev>();
  let bytes = 0;
  for (const each of found) {
    const isReady = ready.size < openedAtOnce.revs && bytes < openedAtOnce.bytes;
    // What must not be seen is refused while it can be answered so; what is shown is the same at any time.
    if (!isReady && show === undefined) break;
    const opened = open(each);
    if (isReady) ready.set(each, opened);
    if ('ok' in opened) bytes += opened.ok.content.length;
  }
  return { revs: found, open: (each) => ready.get(each) ?? openLater(each) };
}

/** Revisions that are not there. */
export const missingRevs = (revs: readonly Rev[]): FoundRevs => ({
  revs: revs.map((rev) => ({ missing: rev })),
  open: (each) => ('missing' in each ? each : { missing: each }),
});

const isKept = (doc: DocRecord, node: RevNode): boolean => node.body !== 0 || isInRecord(doc, node);

/** Lists the leaves of a tree. */
type LeafOrder = (tree: RevTree) => RevNode[];

const unsortedLeaves: LeafOrder = (tree) => tree.filter(({ leaf }) => leaf);

/** With an order of leaves, those below the revisions are meant. */
function namedRevs(tree: RevTree, wanted: readonly Rev[], latest: LeafOrder | undefined): FoundRev[] {
  if (latest !== undefined) return latestOf(tree, wanted, latest);
  return wanted.map((rev) => find(tree, rev) ?? { missing: rev });
}

/** The leaves below the wanted revisions, each once. */
function latestOf(tree: RevTree, wanted: readonly Rev[], leafOrder: LeafOrder): FoundRev[] {
  let order: Map<RevNode, number> | undefined;
  const given = new Set<RevNode>();
  return wanted.flatMap((rev): FoundRev[] => {
    const node = find(tree, rev);
    if (node === undefined) return [{ missing: rev }];
    const fresh = leavesBelow(tree, node).filter((leaf) => !given.has(leaf));
    if (fresh.length > 1) {
      const places = (order ??= new Map(leafOrder(tree).map((leaf, i) => [leaf, i])));
      fresh.sort((a, b) => places.get(a)! - places.get(b)!);
    }
    for (const leaf of fresh) given.add(leaf);
    return fresh;
  });
}
