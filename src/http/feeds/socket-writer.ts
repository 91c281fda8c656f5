import type { Runtime } from '../../base/runtime.js';
import type { WebSocket } from 'ws';

/** With so much on its way to the client, feeds wait; they go on when there is less than half of it. */
const waitingBytesMax = 256 * 1024;

const asText = { binary: false };

/**
 * Sends messages over a WebSocket that several feeds share. A message may come in parts, when it is too large for the
 * memory; until its end no other feed can send rows, and short messages wait.
 */
export class SocketWriter {
  #sender: object | undefined;
  #later: string[] = [];
  #full = false;

  constructor(
    private readonly socket: WebSocket,
    /** Called when feeds that had to wait may go on. */
    private readonly onRoom: () => void,
    private readonly runtime: Runtime,
  ) {}

  hasRoom(sender: object): boolean {
    const isFree = this.#sender === undefined || this.#sender === sender;
    return isFree && !this.#full && this.socket.readyState === this.socket.OPEN;
  }

  message(text: string): void {
    if (this.#sender === undefined) this.#send(text, asText);
    else this.#later.push(text);
  }

  whole(bytes: Buffer): void {
    this.#send(bytes, asText);
  }

  part(sender: object, bytes: Buffer, isLast: boolean): void {
    this.#sender = isLast ? undefined : sender;
    this.#send(bytes, { ...asText, fin: isLast });
    if (!isLast) return;
    for (const text of this.#later.splice(0)) this.#send(text, asText);
    this.onRoom();
  }

  #send(data: string | Buffer, options: { binary: boolean; fin?: boolean }): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.send(data, options, () => this.#sent());
    if (this.socket.bufferedAmount > waitingBytesMax) this.#full = true;
  }

  #sent(): void {
    if (!this.#full || this.socket.bufferedAmount > waitingBytesMax / 2) return;
    this.#full = false;
    // A fast client has room again in the same turn of the loop: others come first.
    void this.runtime.nextTurn().then(() => this.onRoom());
  }
}
