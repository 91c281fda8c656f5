import { Exchange } from '../http/exchange.js';

/** A request that a worker tries to answer. Where it cannot, it is passed on with the body that was read of it. */
export class ReadExchange extends Exchange {
  /** The body, once it was read. */
  taken: Buffer | undefined;
  #isRead = false;
  isForwarded = false;

  override async body(bytesMax?: number): Promise<Buffer> {
    this.#isRead = true;
    return (this.taken = await super.body(bytesMax));
  }

  /** Whether the request can still be passed on, and nothing was answered. */
  get canForward(): boolean {
    const { response } = this;
    return !response.headersSent && !response.destroyed && (!this.#isRead || this.taken !== undefined);
  }
}
