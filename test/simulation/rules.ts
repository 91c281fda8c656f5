import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Random } from '../model/random.js';
import { diskError, expectStatus, parse } from './client.js';
import type { Facts } from './facts.js';
import { databaseName, type Life } from './life.js';

const path = `/${databaseName}/_design/rules`;

/** A rule refuses every fifth write; rule 0 none. It holds in the database that clients write to, not in its copy. */
const refuses = (rule: number, n: number): boolean => rule > 0 && n % 5 === rule % 5;

const validation = (rule: number): string => `function (doc, old, user) {
  if (user.db === '${databaseName}' && !doc._deleted && doc.n % 5 === ${rule % 5}) throw { forbidden: 'rule ${rule}' };
}`;

/** A write that is under way. */
export interface CheckedWrite {
  id: string;
  n: number;
  deleted: boolean;
  /** The leaves of the document when the write began. */
  leaves: string;
  /** By which it may be refused. */
  rules: Set<number>;
  /** By which it may be accepted. */
  acceptedBy: Set<number>;
}

/**
 * A client that changes the validation function of a design document. A write is checked by a rule that holds at some moment
 * between its request and its answer; one that is not stored when a change is acknowledged, is accepted only by a rule that
 * holds from then on.
 */
export class Rules {
  #last = 0;
  /** Those that may hold now: more than one while a change is under way or its outcome unknown. */
  #possible = new Set([0]);
  readonly #writes = new Set<CheckedWrite>();

  constructor(
    private readonly facts: Facts,
    private readonly random: Random,
    private readonly trace: (event: string) => void,
  ) {}

  /** A write begins. */
  open(life: Life, { id, n, deleted }: Pick<CheckedWrite, 'id' | 'n' | 'deleted'>): CheckedWrite {
    const [rules, acceptedBy] = [new Set(this.#possible), new Set(this.#possible)];
    const write = { id, n, deleted, leaves: this.#leaves(life, id), rules, acceptedBy };
    this.#writes.add(write);
    return write;
  }

  /** A write was answered. */
  close(write: CheckedWrite, error: string | undefined): void {
    this.#writes.delete(write);
    const { n, deleted } = write;
    const [rules, acceptedBy] = [[...write.rules], [...write.acceptedBy]];
    const isRefusedBy = (rule: number): boolean => !deleted && refuses(rule, n);
    if (error === 'forbidden')
      assert.ok(rules.some(isRefusedBy), `${n} is forbidden by none of the rules ${rules.join()}`);
    if (error === undefined)
      assert.ok(
        !acceptedBy.every(isRefusedBy),
        `${n} was stored, and is forbidden by the rules ${acceptedBy.join()}`,
      );
  }

  #leaves({ database }: Life, id: string): string {
    return this.facts
      .look(database, asBytes(id))
      .map(({ rev }) => rev)
      .join();
  }

  crashed(): void {
    this.#writes.clear();
  }

  /** Learns after a start which rule holds. */
  async begin({ client }: Life): Promise<void> {
    const answer = await client.send('GET', path);
    expectStatus(answer, 'the rules', 200, 404);
    const rule = answer.status === 200 ? parse<{ rule: number }>(answer).rule : 0;
    assert.ok(this.#possible.has(rule), `rule ${rule} is stored, and not ${[...this.#possible].join()}`);
    this.#possible = new Set([rule]);
  }

  async work(life: Life): Promise<void> {
    while (!life.isEnding) {
      await life.runtime.sleep(this.random.below(250));
      await this.#change(life);
    }
  }

  async #change(life: Life): Promise<void> {
    const { client } = life;
    const before = await client.send('GET', path);
    const rev = before.status === 200 ? parse<{ _rev: string }>(before)._rev : undefined;
    const isDeletion = rev !== undefined && this.random.oneIn(5);
    const rule = isDeletion || this.random.oneIn(4) ? 0 : ++this.#last;
    this.#possible.add(rule);
    for (const { rules, acceptedBy } of this.#writes) {
      rules.add(rule);
      acceptedBy.add(rule);
    }
    const json = rule === 0 ? { rule } : { rule, validate_doc_update: validation(rule) };
    const target = rev === undefined ? path : `${path}?rev=${rev}`;
    const answer = isDeletion ? await client.send('DELETE', target) : await client.send('PUT', target, json);
    expectStatus(answer, 'a change of the rules', 200, 201, 503, 507);
    const isRefused = diskError(answer) !== undefined;
    this.trace(`rule ${rule} ${isRefused ? 'is refused' : 'holds'}`);
    if (isRefused) return await this.begin(life);
    this.#possible = new Set([rule]);
    for (const write of this.#writes)
      if (this.#leaves(life, write.id) === write.leaves) write.acceptedBy = new Set([rule]);
  }
}
