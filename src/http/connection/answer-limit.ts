import type { ClientRequest } from 'node:http';
import type { Timer } from '../../base/runtime.js';
import type { Exchange } from '../exchange.js';
import { hasBody } from '../request/request-facts.js';

/** How long another node may take to accept a connection, with TLS where it uses that. */
const connectMs = 5_000;

/** Ends the wait for a node that does not accept a connection, or does not begin its answer. What comes then may take any time. */
export class AnswerLimit {
  #timer: Timer;
  #isConnected = false;
  onConnect: () => void = () => {};
  #isEnded = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly sent: ClientRequest,
    private readonly answerMs: number,
    private readonly giveUp: (reason: string) => void,
    /** Asked when the time is over. */
    private readonly mayTakeLonger: () => boolean,
  ) {
    const { runtime, request } = exchange;
    const late = (): void => giveUp('The node that has to answer this accepts no connections.');
    this.#timer = runtime.setIdleTimer(late, Math.min(connectMs, answerMs));
    sent.once('socket', (socket) => {
      const isTls = 'encrypted' in socket;
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        this.#begin();
        this.onConnect();
        // From here on the body is read.
        request.on('data', () => this.#begin());
      });
    });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  end(): void {
    this.#isEnded = true;
    this.#timer.cancel();
  }

  #begin(): void {
    if (this.#isEnded) return;
    this.#isConnected = true;
    this.#timer.cancel();
    this.#timer = this.exchange.runtime.setIdleTimer(() => this.#late(), this.answerMs);
  }

  /** A client that is slow to send its body is not the other node's fault. */
  #late(): void {
    const { request } = this.exchange;
    const isSent = request.complete || !hasBody(request) || this.sent.writableNeedDrain;
    if (isSent && !this.mayTakeLonger())
      this.giveUp('The node that has to answer this does not answer in time.');
    else this.#begin();
  }
}
