import type { LocalDoc, Seq } from './peer.js';
import { idVersion } from './replication-id.js';
import { isSeq, seqNumber } from './seq.js';
import type { Stats } from './stats.js';
import { without } from './without.js';

/**
 * The notes that both sides keep of a replication, in CouchDB's form: a local document with the sessions it had, the
 * newest first. A replication goes on from where both sides agree that it was, so a side that was put back to an
 * earlier state, or is another database by now, makes it start again and skip nothing.
 */
export interface Log {
  session_id: string;
  source_last_seq: Seq;
  replication_id_version: number;
  history: HistoryEntry[];
}

export type HistoryEntry = Record<string, unknown>;

const historyMax = 50;

/** Where both sides agree to have been. */
export function commonStart(
  source: LocalDoc | undefined,
  target: LocalDoc | undefined,
): { seq: Seq; history: HistoryEntry[] } {
  const nothing = { seq: 0, history: [] };
  if (source === undefined || target === undefined) return nothing;
  const history = historyOf(source);
  if (source['session_id'] !== undefined && source['session_id'] === target['session_id']) {
    const seq = earlier(source['source_last_seq'], target['source_last_seq']);
    return isSeq(seq) ? { seq, history } : nothing;
  }
  const known = new Map(historyOf(target).map((entry) => [entry['session_id'], entry]));
  for (const [at, entry] of history.entries()) {
    const other = known.get(entry['session_id']);
    const seq = other === undefined ? undefined : earlier(entry['recorded_seq'], other['recorded_seq']);
    if (isSeq(seq)) return { seq, history: history.slice(at) };
  }
  return nothing;
}

/** Of one session the two sides may have noted different places: one of the last notes may not have been written. */
function earlier(a: unknown, b: unknown): unknown {
  const [left, right] = [seqNumber(a), seqNumber(b)];
  return typeof left === 'number' && typeof right === 'number' && left < right ? a : b;
}

function historyOf(log: LocalDoc): HistoryEntry[] {
  const { history } = log;
  if (!Array.isArray(history)) return [];
  return history.filter((each): each is HistoryEntry => typeof each === 'object' && each !== null);
}

/** One run of a replication. */
export interface Session {
  id: string;
  startTime: Date;
  startSeq: Seq;
  /** What was there before it. */
  history: readonly HistoryEntry[];
  /** Whether it was for some documents only: then counts stand at the top too. */
  withTotals: boolean;
}

/** The notes after a session has come to a place. */
export function makeLog(session: Session, seq: Seq, stats: Stats, now: Date): Log & Record<string, unknown> {
  const times = { start_time: httpDate(session.startTime), end_time: httpDate(now) };
  const counts = {
    docs_read: stats.docsRead,
    docs_written: stats.docsWritten,
    doc_write_failures: stats.docWriteFailures,
  };
  const entry: HistoryEntry = {
    session_id: session.id,
    ...times,
    start_last_seq: session.startSeq,
    end_last_seq: seq,
    recorded_seq: seq,
    missing_checked: stats.missingChecked,
    missing_found: stats.missingFound,
    ...counts,
    bulk_get_docs: stats.bulkGetDocs,
    bulk_get_attempts: stats.bulkGetAttempts,
  };
  return {
    session_id: session.id,
    source_last_seq: seq,
    replication_id_version: idVersion,
    ...(session.withTotals ? { ...times, ...counts } : {}),
    history: [entry, ...session.history].slice(0, historyMax),
  };
}

const httpDate = (date: Date): string => date.toUTCString();

/** The notes as `/_replicate` answers with them: places that the interface has as numbers are numbers. */
export function answerOf(log: LocalDoc): LocalDoc {
  const answer: LocalDoc = without(log, '_id', '_rev');
  if ('source_last_seq' in log) answer['source_last_seq'] = seqNumber(log['source_last_seq']);
  if (Array.isArray(log['history'])) {
    answer['history'] = historyOf(log).map((entry) =>
      'end_last_seq' in entry ? { ...entry, end_last_seq: seqNumber(entry['end_last_seq']) } : entry,
    );
  }
  return answer;
}
