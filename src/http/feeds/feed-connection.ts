import type { RawData, WebSocket } from 'ws';
import { badRequest, RequestError } from '../../base/errors.js';
import { ChangeHub } from '../../changes/change-hub.js';
import type { Database } from '../../node/database.js';
import { parseSince, type Positions } from '../../node/sequence.js';
import { parseJson } from '../../json/scan.js';
import type { Exchange } from '../exchange.js';
import { reauthenticate } from '../request/login.js';
import { Query } from '../request/query.js';
import { checkChangesAccess } from './changes-access.js';
import { changesView, type SharedView } from './changes-view.js';
import { listForm } from './feed-form.js';
import { changesRequest, type ChangesRequest } from './feed-request.js';
import { sinceTime } from './since-time.js';
import { errorMessage, SocketFeed } from './socket-feed.js';
import { SocketWriter } from './socket-writer.js';

/** Feeds that a connection may have at a time. */
const feedsMax = 100;
const nameLengthMax = 200;
const grantMax = 1e9;
const normalClosure = 1000;

type Message = Readonly<Record<string, unknown>>;

/** A WebSocket with feeds: one, of the database in its address, or several that the client opens by messages. */
export class FeedConnection {
  readonly #feeds = new Map<string | undefined, SocketFeed>();
  readonly #writer: SocketWriter;

  constructor(
    private readonly exchange: Exchange,
    private readonly socket: WebSocket,
    private readonly isShared: boolean,
  ) {
    const resume = (): void => {
      for (const feed of this.#feeds.values()) feed.resume();
    };
    this.#writer = new SocketWriter(socket, resume, exchange.runtime);
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('close', () => {
      for (const feed of this.#feeds.values()) feed.close();
    });
  }

  open(name: string | undefined, plan: SocketPlan, credit: number): void {
    const { services, id } = this.exchange;
    const { database, request, view, shareKey, since } = plan;
    const hub = ChangeHub.of(services.registry, database);
    const feed = new SocketFeed({
      name,
      request,
      credit,
      writer: this.#writer,
      wheel: services.wheel,
      metrics: services.metrics,
      recheck: async () => checkChangesAccess(this.exchange, await reauthenticate(this.exchange), database),
      summary: async ({ positions }, skipExactCount) => {
        const pending = skipExactCount ? hub.pendingMost(positions) : await hub.pending(positions);
        return `"last_seq":"${hub.token(positions)}","pending":${pending}`;
      },
      onEnd: () => this.#ended(name),
      onError: (error) => services.logger.error({ err: error, id }, 'a feed failed'),
    });
    this.#feeds.set(name, feed);
    feed.begin(hub.follow({ view, start: since, limit: request.limit, shareKey }, feed));
    if (services.registry.feedsEnded) services.registry.endFeeds('server_closing');
    if (database.endReason !== undefined) hub.end(database.endReason);
  }

  #ended(name: string | undefined): void {
    this.#feeds.delete(name);
    if (!this.isShared) this.socket.close(normalClosure);
  }

  #take(data: RawData, isBinary: boolean): void {
    try {
      if (isBinary) throw badRequest('Messages must be text.');
      const message = parseJson(data as Buffer);
      if (typeof message !== 'object' || message === null || Array.isArray(message)) {
        throw badRequest('Messages must be JSON objects.');
      }
      this.#handleMessage(message as Message);
    } catch (error) {
      if (!(error instanceof RequestError)) {
        this.exchange.services.logger.error({ err: error, id: this.exchange.id }, 'a message failed');
      }
      this.#writer.message(errorMessage(error));
    }
  }

  #handleMessage(message: Message): void {
    switch (message['type']) {
      case 'open':
        return this.#openByMessage(message);
      case 'credit':
        return this.#feedOf(message).grant(grantOf(message, 'rows'));
      case 'close':
        return this.#feedOf(message).finish('closed');
      default:
        throw badRequest('The `type` of a message must be open, credit or close.');
    }
  }

  #feedOf(message: Message): SocketFeed {
    const name = this.isShared ? nameOf(message) : undefined;
    const feed = this.#feeds.get(name);
    if (feed === undefined) throw badRequest('There is no such feed.');
    return feed;
  }

  /** What is wrong with a feed is told under its name. */
  #openByMessage(message: Message): void {
    if (!this.isShared) throw badRequest('This connection has one feed, that of its address.');
    const name = nameOf(message);
    try {
      if (this.#feeds.has(name)) throw badRequest('There is a feed of that name.');
      if (this.#feeds.size >= feedsMax) throw badRequest(`A connection has at most ${feedsMax} feeds.`);
      const { db, params = {} } = message;
      if (typeof db !== 'string') throw badRequest('`db` must be the name of a database.');
      if (typeof params !== 'object' || params === null || Array.isArray(params)) {
        throw badRequest('`params` must be a JSON object.');
      }
      const credit = message['credit'] === undefined ? 0 : grantOf(message, 'credit');
      const database = this.exchange.services.registry.database(db);
      checkChangesAccess(this.exchange, this.exchange.user, database);
      this.open(name, socketPlan(this.exchange, database, queryOf(params), params as Message), credit);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#writer.message(errorMessage(error, `,"feed":${JSON.stringify(name)}`));
    }
  }
}

/** A feed that a client may have. */
export interface SocketPlan extends SharedView {
  database: Database;
  request: ChangesRequest;
  since: Positions;
}

/** What a feed over a WebSocket is asked for. It stays open until one side ends it, unless it says otherwise. */
export function socketPlan(
  exchange: Exchange,
  database: Database,
  query: Query,
  body: Message | undefined,
): SocketPlan {
  const timeoutMax = exchange.services.config.number('chttpd/changes_timeout');
  const request = changesRequest(query, { kind: 'continuous', timeout: Infinity, timeoutMax }, body);
  if (request.descending || request.kind === 'eventsource') {
    throw badRequest('A feed over a WebSocket is normal, longpoll or continuous, and never descending.');
  }
  const since = parseSince(database, sinceTime(exchange.services.registry, database, request.since));
  return { database, request, since, ...changesView(exchange, database, request, listForm) };
}

/** Parameters of a message as those of an address. */
function queryOf(params: object): Query {
  const pairs = Object.entries(params).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return new Query(new URLSearchParams(pairs as [string, string][]).toString());
}

function nameOf({ feed }: Message): string {
  if (typeof feed !== 'string' || feed === '' || feed.length > nameLengthMax) {
    throw badRequest(`\`feed\` must be a name of 1 to ${nameLengthMax} characters.`);
  }
  return feed;
}

function grantOf(message: Message, member: string): number {
  const rows = message[member];
  if (typeof rows !== 'number' || !Number.isInteger(rows) || rows < 1 || rows > grantMax) {
    throw badRequest(`\`${member}\` must be a whole number from 1 to ${grantMax}.`);
  }
  return rows;
}
