import type { Bytes } from '../base/bytes.js';
import type { Batch } from './batch-codec.js';
import type { StreamHead } from './stream-place.js';
import { StreamLost } from './stream.js';

/** Hashes that others' hashes are compared with. */
const hashesMax = 4_096;

/** The hashes of a replica behind the last messages, with which those of other replicas are compared. */
export class StreamHistory {
  readonly #hashes = new Map<number, Bytes>();
  /** Of stores that are ahead. */
  readonly #expected = new Map<number, Bytes>();

  constructor(private readonly stream: string) {}

  /** Begins at a head again. Stores that are further have noted what the stream brings there. */
  begin(head: StreamHead, ahead: readonly StreamHead[]): void {
    this.#expected.clear();
    for (const { epoch, seq, hash } of ahead)
      if (epoch === head.epoch && seq > head.seq) this.#expected.set(seq, hash);
    this.note(head);
  }

  /** Throws where a store has noted something else. */
  note({ seq, hash }: StreamHead): void {
    const expected = this.#expected.get(seq);
    if (expected !== undefined && expected !== hash)
      throw new StreamLost(
        this.stream,
        `a store of this node has another history up to message ${seq}: ${hex(expected)}, and the stream ${hex(hash)}`,
      );
    this.#hashes.set(seq, hash);
    this.#hashes.delete(seq - hashesMax);
  }

  at(seq: number): Bytes | undefined {
    return this.#hashes.get(seq);
  }

  /** Throws where the sender of a message has another history. */
  check({ seq, hash, origin }: Batch): void {
    const own = this.#hashes.get(seq);
    if (own === undefined || own === hash) return;
    throw new StreamLost(
      this.stream,
      `the node ${origin.name} has another history up to message ${seq}: ${hex(hash)}, and here it is ${hex(own)}`,
    );
  }
}

const hex = (bytes: Bytes): string => Buffer.from(bytes, 'latin1').toString('hex');
