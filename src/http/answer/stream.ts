import type { ServerResponse } from 'node:http';
import type { Budget, Share } from '../../base/budget.js';
import { pieceBuffers } from '../../base/piece-buffers.js';
import type { Runtime } from '../../base/runtime.js';
import type { Bytes } from '../../base/bytes.js';
import { uncountedBytes } from '../connection/memory-budgets.js';

/** Where an answer goes. */
export interface Outlet {
  readonly response: ServerResponse;
  readonly runtime: Runtime;
  /** Where the room for large pieces of an answer comes from. */
  readonly answerBudget: Budget;
}

/**
 * Writes pieces as fast as the client takes them and no faster: the next is only asked for when the socket has room,
 * so a slow reader holds one piece in memory. Gives false when the client went away.
 */
export async function writePieces(outlet: Outlet, pieces: Iterable<Bytes>): Promise<boolean> {
  for (const piece of pieces) {
    if (!(await writePiece(outlet, piece))) return false;
  }
  return true;
}

/**
 * The same for bytes that come as a stream. Chunks of `pieceBuffers` go back there when they have left; no others must be
 * reused, as the socket may keep references to them.
 */
export async function writeBuffers(outlet: Outlet, chunks: AsyncIterable<Buffer>): Promise<boolean> {
  const { response } = outlet;
  for await (const chunk of chunks) {
    if (response.destroyed || response.closed) return false;
    if (chunk.length > uncountedBytes.answer) {
      if (!(await writeLarge(outlet, chunk))) return false;
      continue;
    }
    if (response.write(chunk)) continue;
    if (!(await drained(response))) return false;
    await outlet.runtime.nextTurn();
  }
  return true;
}

/** An empty piece writes nothing: it stands for work that has taken its time and found nothing to show yet. */
export async function writePiece(outlet: Outlet, piece: Bytes | Buffer): Promise<boolean> {
  const { response } = outlet;
  if (response.destroyed || response.closed) return false;
  if (piece.length > uncountedBytes.answer) {
    if (!(await writeLarge(outlet, piece))) return false;
  } else if (piece.length > 0) {
    const taken = typeof piece === 'string' ? response.write(piece, 'latin1') : response.write(piece);
    if (!taken && !(await drained(response))) return false;
  }
  // What a fast client takes is drained at once, in the same turn of the loop: it must not keep the others waiting.
  await outlet.runtime.nextTurn();
  return true;
}

/** So much of an answer is read before its head is sent. */
const aheadBytesMax = 256 * 1024;

/** The same pieces, the first of them read already: a failure among those is thrown here, while it can be answered. */
export async function begun<T extends Bytes | Buffer>(pieces: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = pieces[Symbol.asyncIterator]();
  const ahead: IteratorResult<T, unknown>[] = [];
  for (let bytes = 0; bytes < aheadBytesMax;) {
    const next = await iterator.next();
    ahead.push(next);
    if (next.done) break;
    bytes += next.value.length;
  }
  const next = (): Promise<IteratorResult<T, unknown>> => {
    const first = ahead.shift();
    return first === undefined ? iterator.next() : Promise.resolve(first);
  };
  const leave = async (): Promise<IteratorResult<T, unknown>> => {
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

/**
 * A piece that is larger than others, of a large document for example, takes room among the answers that wait for their
 * clients. It was read already, so it cannot wait for room: where there is none, the answer is broken off.
 */
async function writeLarge({ response, answerBudget }: Outlet, piece: Bytes | Buffer): Promise<boolean> {
  const share = answerBudget.share(() => response.destroy());
  if (!share.tryGrow(piece.length)) {
    response.destroy();
    return false;
  }
  try {
    const step = typeof piece === 'string' ? sliceBytes : bufferSliceBytes;
    let isGone = false;
    for (let at = 0; at < piece.length; at += step) {
      isGone = !writeSlice(response, piece, at);
      if (isGone && !(await drained(response))) return false;
      share.moved();
    }
    // Nothing that was written is left when the socket has drained.
    if (isGone && typeof piece !== 'string') pieceBuffers.giveBack(piece);
    return true;
  } finally {
    share.release();
  }
}

/** Writes a large answer as the client takes it, and ends it. Its share is released by others. */
export function writeWhole(response: ServerResponse, text: Bytes, share: Share): void {
  let at = 0;
  const write = (): void => {
    share.moved();
    for (let isTaken = true; isTaken && at < text.length; at += sliceBytes)
      isTaken = writeSlice(response, text, at);
    if (at < text.length) return;
    response.off('drain', write);
    response.end();
  };
  response.on('drain', write);
  write();
}

/** A text is copied for each write, and a share has moved when a slice is gone. */
const sliceBytes = 128 * 1024;
/** Bytes of a file are not copied: fewer and larger writes are faster. */
const bufferSliceBytes = 512 * 1024;

function writeSlice(response: ServerResponse, piece: Bytes | Buffer, at: number): boolean {
  if (typeof piece === 'string') return response.write(piece.slice(at, at + sliceBytes), 'latin1');
  return response.write(piece.subarray(at, at + bufferSliceBytes));
}

function drained(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (open: boolean) => () => {
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(open);
    };
    const onDrain = done(true);
    const onClose = done(false);
    response.on('drain', onDrain);
    response.on('close', onClose);
  });
}
