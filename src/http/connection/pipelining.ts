import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Where a socket keeps the answer to its latest request. */
export const lastAnswer = Symbol('last answer');
/** And those that wait for their turn. */
const queuedAnswers = Symbol('queued answers');
export type Pipelined = IncomingMessage['socket'] & {
  [lastAnswer]?: ServerResponse | undefined;
  [queuedAnswers]?: Set<ServerResponse>;
};

/** An idle connection must not keep its last request in memory, with all that was read of it. */
export function forgetAnswer({ socket }: { socket: Pipelined | null }, answer: ServerResponse): void {
  // A request that was given up has no socket any more.
  if (socket !== null && socket[lastAnswer] === answer) socket[lastAnswer] = undefined;
}

/** Whether no request has come over a connection, as far as that can be told: a handshake of TLS has bytes of its own. */
export const isUnused = (socket: Pipelined): boolean =>
  socket[lastAnswer] === undefined && (socket.bytesRead === 0 || 'encrypted' in socket);

/** Node tells an answer whose turn has not come nothing of the end of its connection; this does. */
export function watchQueued(socket: Pipelined, answer: ServerResponse): void {
  let answers = socket[queuedAnswers];
  if (answers === undefined) {
    const all = (answers = socket[queuedAnswers] = new Set());
    socket.once('close', () => {
      for (const each of all) {
        if (each.socket !== null) continue;
        each.destroy();
        each.emit('close');
      }
    });
  }
  const all = answers.add(answer);
  answer.once('close', () => all.delete(answer));
}

/** Whether answers of a connection wait for their turn. */
export const hasQueued = (socket: Socket): boolean => queued(socket) > 0;

const queued = (socket: Pipelined): number => socket[queuedAnswers]?.size ?? 0;

/** So many answers are made before the client has taken those before them: each is held in memory. */
const queuedMax = 16;

/** Whether a request has to wait for the answer before it: one of the two may change something, or too many answers wait. */
export const mustWait = (before: ServerResponse, request: IncomingMessage): boolean =>
  !before.closed &&
  (!(isSafe(before.req.method) && isSafe(request.method)) || isFull(request.socket as Pipelined));

const isFull = (socket: Pipelined): boolean => queued(socket) > queuedMax;

const isSafe = (method: string | undefined): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

/**
 * Node lets go of a connection that shall change its protocol, error listener included, even while earlier requests on it
 * wait for their answers: such a connection is closed, since nothing could be told apart on it.
 */
export function takeOver(socket: Duplex, proceed: () => void): void {
  socket.on('error', () => socket.destroy());
  const before = (socket as Pipelined)[lastAnswer];
  if (before === undefined || before.closed) proceed();
  else if (before.writableEnded) before.once('close', () => socket.destroyed || proceed());
  else socket.destroy();
}

/** What Node looks at to tell whether a connection is idle: the answer whose turn it is, and whether it was given. */
interface Answering {
  _httpMessage?: { finished: boolean } | null;
}

/**
 * Has Node close idle connections. It takes one for idle when its answer was given, though a part of that may wait for the
 * client to take it, and further answers behind it: such connections are passed over.
 */
export function closeIdle(connections: Iterable<Pipelined>, close: () => void): void {
  const given = [...connections].flatMap((socket) => {
    const answer = (socket as Answering)._httpMessage;
    return answer?.finished && (socket.writableLength > 0 || hasQueued(socket)) ? [answer] : [];
  });
  for (const answer of given) answer.finished = false;
  close();
  for (const answer of given) answer.finished = true;
}
