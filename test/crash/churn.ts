import assert from 'node:assert/strict';
import type { HttpClient } from '../support/http-client.js';
import type { Random } from '../model/random.js';

const large = 'x'.repeat(5_500_000);

/**
 * A client that creates databases and deletes them again. Some hold enough for the volume to be copied into a fresh
 * folder when they are gone, so that kills fall into erasures and into the replacing of a volume as well.
 */
export class Churn {
  readonly #databases = new Map<string, { there: boolean; docs: number }>();
  #inDoubt: string | undefined;
  #next = 0;

  constructor(private readonly random: Random) {}

  /** Works until the server is gone. */
  async run(client: HttpClient): Promise<void> {
    try {
      for (;;) await this.#cycle(client);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
  }

  /** What was acknowledged is there or gone, whichever it was; a request in doubt may have gone either way. */
  async check(client: HttpClient): Promise<void> {
    const names = new Set((await client.get('/_all_dbs')).body as string[]);
    for (const [name, { there, docs }] of this.#databases) {
      if (name !== this.#inDoubt) assert.equal(names.has(name), there, `${name} is there`);
      if (!names.has(name)) {
        this.#databases.set(name, { there: false, docs: 0 });
        continue;
      }
      const { body } = await client.get(`/${name}`);
      assert.ok(
        body.doc_count >= docs && body.doc_count <= docs + 1,
        `${name} has ${body.doc_count} of ${docs}`,
      );
      this.#databases.set(name, { there: true, docs: body.doc_count as number });
    }
    this.#inDoubt = undefined;
  }

  async #cycle(client: HttpClient): Promise<void> {
    const name = `churn${this.#next++}`;
    const database = { there: false, docs: 0 };
    this.#databases.set(name, database);
    this.#inDoubt = name;
    await expect(client.put(`/${name}?q=2`), 201);
    this.#inDoubt = undefined;
    database.there = true;
    const isLarge = this.random.oneIn(2);
    for (let i = 0; i < 2; i++) {
      await expect(client.put(`/${name}/${i}`, { pad: isLarge ? large : '' }), 201);
      database.docs++;
    }
    if (!isLarge && this.random.oneIn(4)) return;
    this.#inDoubt = name;
    await expect(client.delete(`/${name}`), 200);
    this.#inDoubt = undefined;
    database.there = false;
  }
}

async function expect(answering: ReturnType<HttpClient['send']>, status: number): Promise<void> {
  const answer = await answering;
  assert.equal(answer.status, status, answer.text);
}
