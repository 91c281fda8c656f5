import { asBytes, type Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import type { Hit } from './top-hits.js';

/** How long hits are written without letting others run. */
const stepMs = 6;
/** What the hits, groups and counts of one answer may take: they are made as a whole. */
const answerBytesMax = 64 * 1024 * 1024;

interface HitTextsOptions {
  runtime: Runtime;
  /** Throws on timeout, or when the client has disconnected. */
  check: () => void;
  /** Told how large the answer has become; throws where there is no room for it. */
  hold: (bytes: number) => void;
}

/** Writes the hits of one answer as JSON. */
export class HitTexts {
  #bytes = 0;

  constructor(
    private readonly options: HitTextsOptions,
    /** Undefined for a hit that has left the index since it was found. */
    private readonly textOf: (hit: Hit) => Bytes | undefined,
  ) {}

  async write(hits: readonly Hit[]): Promise<Bytes> {
    const { runtime, check } = this.options;
    const texts: Bytes[] = [];
    let until = runtime.monotonicMs() + stepMs;
    for (const hit of hits) {
      const text = this.textOf(hit);
      if (text !== undefined) {
        this.count(text);
        texts.push(text);
      }
      if (runtime.monotonicMs() < until) continue;
      await runtime.nextTurn();
      check();
      until = runtime.monotonicMs() + stepMs;
    }
    return asBytes(texts.join(','));
  }

  /** Called with every part of the answer that may be long. */
  count({ length }: Bytes): void {
    this.#bytes += length + 1;
    if (this.#bytes > answerBytesMax)
      throw badRequest(
        'The answer takes more than 64 MB. Ask for fewer hits by `limit`, and for more by `bookmark`.',
      );
    this.options.hold(this.#bytes);
  }
}
