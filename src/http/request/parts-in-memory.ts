import type { Share } from '../../base/budget.js';
import { badRequest } from '../../base/errors.js';
import type { Part } from '../../base/multipart/multipart-reader.js';
import { countBody } from '../connection/memory-budgets.js';

/** Reads parts of a multipart body whole. All of them together count against the budget, and have a bound. */
export class PartsInMemory {
  #length = 0;

  constructor(
    private readonly share: Share,
    private readonly bytesMax: number,
    private readonly tooLarge: string,
  ) {}

  async read({ body }: Part): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      this.#length += chunk.length;
      if (this.#length > this.bytesMax) throw badRequest(this.tooLarge);
      this.share.moved();
      countBody(this.share, this.#length);
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks);
  }

  /** Nothing more is read: the client is not waited for any more. */
  end(): void {
    this.share.settle();
  }
}
