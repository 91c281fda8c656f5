import { setTimeout } from 'node:timers/promises';
import { answerDifferences, type Difference } from './answer-differences.js';
import { canonicalAnswer } from './canonical.js';
import { isIntended } from './intended.js';
import type { Peer } from './peer.js';
import type { CompareRequest } from './request.js';
import { scenes, type SceneName } from './scene.js';

/** CouchDB sometimes cannot open the shards of a database that it has just made. */
const attemptsMax = 6;

/** One database at a time on both servers, and what they answer about it. */
export class Lane {
  #db = '';
  #databases = 0;
  sent = 0;

  constructor(
    private readonly reference: Peer,
    private readonly subject: Peer,
    private readonly name: string,
    private readonly withReasons: boolean,
  ) {}

  /** Leaves the database of before, and makes one of the scene: with another name if a server fails to. */
  async enter(scene: SceneName): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.enterEmpty();
      const [failed] = (
        await Promise.all(
          [this.reference, this.subject].map(async (peer) => await this.#prepare(peer, scene)),
        )
      ).filter((failure) => failure !== undefined);
      if (failed === undefined) return;
      if (attempt === attemptsMax) throw new Error(failed);
      await setTimeout(attempt * 500);
    }
  }

  /** What went wrong, if anything did. */
  async #prepare(peer: Peer, scene: SceneName): Promise<string | undefined> {
    for (const request of scenes[scene]) {
      const { status, text } = await peer.send(request);
      if (status === 0 || status >= 400) return `${request.method} ${request.path}: ${status} ${text}`;
    }
    return undefined;
  }

  /** Leaves the database of before for a name that no database has. */
  async enterEmpty(): Promise<void> {
    await this.leave();
    this.#db = `${this.name}_${++this.#databases}`;
    for (const peer of [this.reference, this.subject]) peer.enter(this.#db);
  }

  async leave(): Promise<void> {
    if (this.#db === '') return;
    const request = { endpoint: 'DELETE /{db}', method: 'DELETE', path: '/{db}' };
    await Promise.all([this.reference.send(request), this.subject.send(request)]);
  }

  /** Sends a request to both. */
  async compare(request: CompareRequest): Promise<Comparison> {
    this.sent++;
    const [there, here] = await Promise.all([this.reference.send(request), this.subject.send(request)]);
    const all = answerDifferences(canonicalAnswer(there, this.#db), canonicalAnswer(here, this.#db));
    const counting = all[0]?.member === 'status' ? all.slice(0, 1) : all;
    const differences = counting.filter(
      (difference) =>
        (this.withReasons || !/\breason$/.test(difference.member)) && !isIntended(request, difference),
    );
    const changed = there.status < 400 || here.status < 400;
    return { differences, changed, diverged: isEdit(request) && differences.length < counting.length };
  }
}

interface Comparison {
  /** What is not intended. */
  differences: Difference[];
  /** Whether the request may have changed anything. */
  changed: boolean;
  /** Whether an edit was answered otherwise on purpose: the databases may hold different documents from now on. */
  diverged: boolean;
}

const readingPosts = /\/_(?:find|explain|changes|revs_diff|bulk_get|all_docs)$/;

const isEdit = ({ method, endpoint }: CompareRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && !readingPosts.test(endpoint);
