import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import fs from 'node:fs';
import path from 'node:path';
import { decodeBatch } from '../../src/log/batch-codec.js';
import { firstHead, nextHead } from '../../src/log/stream-place.js';
import type { Bytes } from '../../src/base/bytes.js';
import type { ClusterUnderTest } from './cluster-under-test.js';

/** Messages that are shown before and behind the one at which histories differ. */
const around = 15;

/** What nodes say when they find another history. */
const found = /stream (\S+) cannot be followed: [^"]*?another history up to message (\d+)/g;

/**
 * For each place at which a node has found another history: the messages of the stream around it, and which of them name a
 * hash that does not follow from the one before.
 */
export async function describeHistories({ nats, nodes }: ClusterUnderTest): Promise<string> {
  const places = new Set(
    nodes.flatMap(({ log }) => [...log.matchAll(found)].map((match) => match.slice(1, 3).join(' '))),
  );
  const parts: string[] = [];
  for (const place of places) {
    const [stream, seq] = place.split(' ') as [string, string];
    const folders = nats.servers.map(({ folder }) => folder);
    parts.push(`${stream} around ${seq}:`, ...describeCopies(folders, stream, Number(seq)));
    parts.push(...(await messagesAround(nats.url, stream, Number(seq))));
  }
  return parts.join('\n');
}

async function messagesAround(servers: string, stream: string, at: number): Promise<string[]> {
  const connection = await connect({ servers: servers.split(',') });
  const lines: string[] = [];
  try {
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info(stream);
    lines.push(`  first ${state.first_seq}, last ${state.last_seq}`);
    /** The hash behind each message, as it follows from what the first sender says that is known. */
    const hashes = new Map<number, Bytes>();
    let last: { seq: number; hash: Bytes } | undefined;
    for (let seq = Math.max(at - 200, state.first_seq); seq <= Math.min(at + around, state.last_seq); seq++) {
      const message = await streams.getMessage(stream, { seq });
      if (message === null) {
        lines.push(`  ${seq}: missing`);
        last = undefined;
        continue;
      }
      const bytes = Buffer.from(message.data);
      const batch = decodeBatch(bytes);
      if (last === undefined && batch.seq === seq - 1) last = { seq: batch.seq, hash: batch.hash };
      const derived = hashes.get(batch.seq);
      const verdict = derived === undefined ? 'unknown' : derived === batch.hash ? 'fits' : 'DIFFERS';
      if (last !== undefined) {
        last = { seq, hash: nextHead({ ...firstHead(''), ...last }, bytes, undefined).hash };
        hashes.set(seq, last.hash);
      }
      if (seq < at - around && verdict !== 'DIFFERS') continue;
      const { origin, commands } = batch;
      const hex = (hash: Bytes | undefined): string =>
        hash === undefined ? '?' : Buffer.from(hash, 'latin1').toString('hex');
      lines.push(
        `  ${seq} at ${message.time.toISOString()}: ${origin.name} ${origin.incarnation}.${origin.counter}, ${commands.length} commands, its hash of ${batch.seq} is ${hex(batch.hash)} (${verdict}); derived here ${hex(last?.hash)}`,
      );
    }
  } finally {
    await connection.close();
  }
  return lines;
}

/** Copies what nodes and NATS servers have on disk to the folder that TUFFET_KEEP names, if any. Gives where it is. */
export function keepFolders({ nats, nodes }: ClusterUnderTest): string {
  const keep = process.env['TUFFET_KEEP'];
  if (keep === undefined) return 'TUFFET_KEEP=FOLDER keeps what is on disk';
  const target = fs.mkdtempSync(path.join(keep, 'faults-'));
  for (const node of nodes) {
    fs.cpSync(node.folder, path.join(target, node.name), { recursive: true });
    fs.writeFileSync(path.join(target, `${node.name}.log`), node.log);
  }
  for (const [at, server] of nats.servers.entries())
    fs.cpSync(server.folder, path.join(target, `nats-${at + 1}`), { recursive: true });
  return `kept in ${target}`;
}

/** The ids of the messages around a place, as each NATS server has them on its own disk. Copies of one stream are the same. */
function describeCopies(folders: readonly string[], stream: string, at: number): string[] {
  const copies = folders.map((folder) =>
    messagesOnDisk(path.join(folder, 'jetstream/$G/streams', stream, 'msgs')),
  );
  const lines: string[] = [];
  for (let seq = at - around; seq <= at + around; seq++) {
    const ids = copies.map((messages) => messages.get(seq) ?? 'none');
    if (new Set(ids).size > 1) lines.push(`  the servers have different messages ${seq}: ${ids.join(', ')}`);
  }
  return lines.length > 0 ? lines.slice(0, 5) : ['  the servers have the same messages'];
}

/** Of the blocks of a file store of NATS: length, sequence, time, subject, header with the id, data, checksum. */
function messagesOnDisk(folder: string): Map<number, string> {
  const messages = new Map<number, string>();
  for (const name of fs.readdirSync(folder).filter((each) => each.endsWith('.blk'))) {
    const block = fs.readFileSync(path.join(folder, name));
    for (let at = 0; at + 22 <= block.length;) {
      const length = block.readUInt32LE(at) & 0x7fffffff;
      if (length < 22 || at + length > block.length) break;
      const id = /Nats-Msg-Id: (\S+)/.exec(block.latin1Slice(at, at + Math.min(length, 400)));
      messages.set(Number(block.readBigUInt64LE(at + 4)), id?.[1] ?? '?');
      at += length;
    }
  }
  return messages;
}
