import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Runtime } from '../../base/runtime.js';
import { asBytes, type Bytes } from '../../base/bytes.js';
import type { Config } from '../../config/config.js';
import { hasQueued } from '../connection/pipelining.js';

/** What Node keeps of an answer, and looks at itself. */
interface Unsent {
  /** The head as text; null until there is one, which is what `headersSent` tells. */
  _header: string | null;
  /** What `writableEnded` tells. */
  finished: boolean;
  /** Set here when all has left: whether `writableFinished` tells it differs among versions of Node. */
  [isWhole]?: true;
}

const isWhole = Symbol('sent as a whole');

/** Whether all of an answer has left. */
export const isSentWhole = (response: ServerResponse): boolean =>
  (response as unknown as Unsent)[isWhole] === true || (response.writableEnded && response.writableFinished);

/** Headers of which Node only looks at the value. Others may concern the connection, or come from functions. */
const plainNames: ReadonlySet<unknown> = new Set([
  'Accept-Ranges',
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Cache-Control',
  'Content-Length',
  'Content-Security-Policy',
  'Content-Type',
  'ETag',
  'Location',
  'Server',
  'Set-Cookie',
  'Vary',
  'X-Content-Type-Options',
  'X-Couch-Request-ID',
  'X-CouchDB-Body-Time',
  'X-Frame-Options',
  'X-Request-ID',
]);

/** Answers that have no body, whatever a function gave one. */
const isBodiless = (status: number): boolean => status === 204 || status === 304;

/** What Node sends in no header: it could end it and begin another. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/;

/** An answer whose turn of the event loop is not over. */
interface Unwritten {
  socket: Socket;
  text: Bytes;
  onWritten(error?: Error | null): void;
}

const write = ({ socket, text, onWritten }: Unwritten): void => void socket.write(text, 'latin1', onWritten);

/** So many are written without waiting for the end of the turn. */
const unwrittenMax = 64;
/** And those of which one has waited for so long. */
const waitMs = 4;

/**
 * Sends short answers with one write each, those of a turn of the event loop one after the other at its end. Node's `writeHead`
 * and `end` keep account of each header and write two pieces while the socket is held, which is a quarter of what a bare server
 * does for a request; and to wake a client for each answer takes longer than to write it (decision 036). What is sent is the same.
 */
export class WholeAnswers {
  /** What closes the heads of one second. */
  #closing = '';
  #second = 0;
  #unwritten: Unwritten[] = [];
  /** When the first of them was given. */
  #sinceMs = 0;
  /** Answers of this turn, written or not. */
  #inTurn = 0;
  /** Of the last turn that had any. */
  #inLastTurn = 0;
  readonly #keepAlive: string;

  constructor(
    config: Config,
    private readonly runtime: Runtime,
  ) {
    const idleMs = config.number('tuffet/idle_timeout_ms');
    const idle = idleMs > 0 ? `Keep-Alive: timeout=${Math.floor(idleMs / 1000)}\r\n` : '';
    this.#keepAlive = `Connection: keep-alive\r\n${idle}\r\n`;
  }

  /**
   * Sends a head, given as a flat list of names and values, and a body of the length that the head tells. Gives false where
   * that is left to Node, and nothing was done: for connections that end with the answer, answers that wait for their turn
   * or must have no body, and heads that Node may refuse.
   */
  send(response: ServerResponse, status: number, list: readonly (string | number)[], body: Bytes): boolean {
    const { socket, req } = response;
    const unsent = response as unknown as Unsent;
    if (status < 200 || (isBodiless(status) && body !== '')) return false;
    if (unsent._header !== null || socket === null || socket.destroyed || !socket.writable) return false;
    if (!response.shouldKeepAlive || req.httpVersionMinor !== 1 || req.httpVersionMajor !== 1) return false;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    for (let i = 0; i < list.length; i += 2) {
      const value = list[i + 1];
      if (!plainNames.has(list[i])) return false;
      if (typeof value === 'string' ? unsendable.test(value) : typeof value !== 'number') return false;
      head += `${list[i]}: ${value}\r\n`;
    }
    head += this.#end();
    response.statusCode = status;
    unsent._header = head;
    unsent.finished = true;
    const onWritten = (error?: Error | null): void => {
      // Of a connection that broke, its own end tells.
      if (error) return;
      unsent[isWhole] = true;
      response.emit('finish');
    };
    this.#write({ socket, text: asBytes(head + body), onWritten });
    return true;
  }

  /** Writes what waits for the end of the turn: before connections are closed that seem to have their answers. */
  flush(): void {
    for (const answer of this.#unwritten.splice(0)) write(answer);
  }

  #write(answer: Unwritten): void {
    if (this.#inTurn++ === 0) {
      this.runtime.defer(this.#endTurn);
      // A client that sends one request after the other has nothing to gain from waiting.
      if (this.#inLastTurn <= 1) return void write(answer);
    }
    // What waits behind it may have been made already.
    if (hasQueued(answer.socket)) return void write(answer);
    const nowMs = this.runtime.monotonicMs();
    if (this.#unwritten.length === 0) this.#sinceMs = nowMs;
    this.#unwritten.push(answer);
    if (this.#unwritten.length >= unwrittenMax || nowMs > this.#sinceMs + waitMs) this.flush();
  }

  readonly #endTurn = (): void => {
    this.#inLastTurn = this.#inTurn;
    this.#inTurn = 0;
    this.flush();
  };

  #end(): string {
    const second = this.runtime.nowSeconds();
    if (second !== this.#second) {
      this.#second = second;
      this.#closing = `Date: ${this.runtime.date().toUTCString()}\r\n${this.#keepAlive}`;
    }
    return this.#closing;
  }
}
