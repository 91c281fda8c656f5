import type { IncomingMessage } from 'node:http';
import { CredentialCache } from '../auth/credential-cache.js';
import type { Runtime } from '../base/runtime.js';
import type { UserContext } from '../base/user-context.js';
import { headerOf } from '../http/request/header.js';
import type { Services } from '../http/services.js';
import type { EpochReader, Epoch } from './epochs.js';
import type { Granted, Permit, PermitRequest } from './messages.js';
import type { ReadDatabase } from './read-database.js';

const permitsMax = 10_000;
/** Permits that are asked for at a time. */
const pendingMax = 1_000;

/** What is known of requests with certain credentials for a certain database. */
interface Known {
  epoch: Epoch;
  until: number;
  /** Undefined where they have to be forwarded. */
  reader: Reader | undefined;
}

/** A user who may read a database here. */
export interface Reader {
  user: UserContext;
  database: ReadDatabase;
  /** What handlers work with, for this database. */
  services: Services;
}

/** The permit that was used last on a connection, and for what: the next request is usually of the same kind. */
const lastUse = Symbol('lastUse');

interface LastUse extends Pick<PermitRequest, 'database' | 'authorization' | 'cookie'> {
  known: Known;
}

type Connection = IncomingMessage['socket'] & { [lastUse]?: LastUse };

/** The permits that a worker has, and asks for. */
export class Permits {
  readonly #known: CredentialCache<Known>;
  readonly #pending = new Set<string>();

  constructor(
    private readonly epochs: EpochReader,
    /** Opens the database of a permit. */
    private readonly open: (name: string, permit: Permit) => Omit<Reader, 'user'>,
    private readonly runtime: Runtime,
    private readonly ask: (request: PermitRequest) => Promise<Granted | undefined>,
  ) {
    this.#known = new CredentialCache(() => permitsMax, runtime);
  }

  /** The user of a request who may read a database, as of now; undefined where the request has to be forwarded. */
  reader(request: IncomingMessage, database: string): Reader | undefined {
    const socket: Connection = request.socket;
    const known = this.#lookUp(socket, request, database);
    if (known !== undefined && this.#holds(known, database)) return known.reader;
    delete socket[lastUse];
    return undefined;
  }

  /** To be called when a forwarded request was answered well: the next of its kind may be answered here. */
  request(request: IncomingMessage, database: string): void {
    const digest = this.#digest(request, database);
    const known = this.#known.get(digest);
    if (known !== undefined && this.#holds(known, database)) return;
    if (this.#pending.has(digest) || this.#pending.size >= pendingMax) return;
    this.#pending.add(digest);
    this.ask({
      database,
      authorization: headerOf(request, 'authorization'),
      cookie: headerOf(request, 'cookie'),
      sender: request.socket.remoteAddress ?? '',
    })
      .then((granted) => granted && this.#keep(digest, database, granted))
      // Requests go on being forwarded.
      .catch(() => undefined)
      .finally(() => this.#pending.delete(digest));
  }

  #keep(digest: string, database: string, { epoch, permit }: Granted): void {
    const until = permit?.until ?? Infinity;
    // A volume that this process was told to release meanwhile must not be opened again.
    if (!this.#holds({ epoch, until }, database)) return;
    const reader = permit && { user: permit.user, ...this.open(database, permit) };
    this.#known.set(digest, { epoch, until, reader });
  }

  #holds({ epoch, until }: Pick<Known, 'epoch' | 'until'>, database: string): boolean {
    if (until <= this.runtime.now()) return false;
    this.epochs.look();
    return this.epochs.isCurrent(epoch, database);
  }

  #lookUp(socket: Connection, request: IncomingMessage, database: string): Known | undefined {
    const last = socket[lastUse];
    const authorization = headerOf(request, 'authorization');
    const cookie = headerOf(request, 'cookie');
    if (last?.database === database && last.authorization === authorization && last.cookie === cookie)
      return last.known;
    const known = this.#known.get(this.#digest(request, database));
    if (known !== undefined) socket[lastUse] = { database, authorization, cookie, known };
    return known;
  }

  #digest(request: IncomingMessage, database: string): string {
    const authorization = headerOf(request, 'authorization') ?? '';
    const cookie = headerOf(request, 'cookie') ?? '';
    return this.#known.digest(`${database}\n${authorization}\n${cookie}`);
  }
}
