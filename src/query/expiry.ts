import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { serverAdminRole, type UserContext } from '../base/user-context.js';
import { saveDocs } from '../documents/save-docs.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { DatabaseVisits } from '../node/database-visits.js';
import { parseRev } from '../revisions/rev.js';
import { parseField } from '../selectors/field-path.js';
import { dueConditions, expiryMs } from './expiry-dates.js';
import type { FindContext } from './find-context.js';
import { DocSearch, readQuery } from './find-docs.js';
import { readIndexRequest, type IndexRequest } from './index-request.js';
import { queryIndexes } from './query-indexes.js';
import { createIndex, deleteIndex } from './save-index.js';
import { knownId } from '../shard/doc-id.js';
import { plainInput } from '../shard/document-input.js';

/** The design document and the name of the index that finds expired documents. */
const ddoc = '_design/tuffet-expiry';
const indexName = 'expiry';
/** Documents that are deleted in one step. */
const pageSize = 200;

const server: UserContext = { name: null, roles: [serverAdminRole] };

/**
 * Deletes documents whose date has passed, in databases with `_expiry`. Once in a while each of them is asked, by an index
 * of its own, for documents with a date up to now: what that costs depends on the changes since the last time and on the
 * documents that are due.
 */
export class Expiry {
  readonly #visits: DatabaseVisits;

  constructor(private readonly registry: DatabaseRegistry) {
    const seconds = (): number => registry.config.number('tuffet/expiry_interval_seconds');
    this.#visits = new DatabaseVisits(registry, {
      firstSeconds: seconds,
      seconds,
      having: () => 'expiry',
      visit: (database) => this.#deleteExpired(database),
      failed: 'deleting expired documents failed',
    });
  }

  async #deleteExpired(database: Database): Promise<void> {
    const field = database.record.expiry?.field;
    if (field === undefined) return;
    await createExpiryIndex(this.registry, database, field);
    const now = this.registry.runtime.now();
    for (const condition of dueConditions(now)) await this.#deleteMatching(database, field, condition, now);
  }

  async #deleteMatching(database: Database, field: string, condition: object, now: number): Promise<void> {
    let bookmark: string | undefined;
    for (;;) {
      if (this.#visits.isClosed || database.isGone || database.record.expiry?.field !== field) return;
      const page = await this.#find(database, field, condition, bookmark);
      const due = page.docs.filter((doc) => isDue(valueAt(doc, field), now));
      await this.#delete(database, due);
      if (page.docs.length < pageSize) return;
      ({ bookmark } = page);
    }
  }

  async #find(
    database: Database,
    field: string,
    condition: object,
    bookmark: string | undefined,
  ): Promise<Page> {
    const context: FindContext = { registry: this.registry, database, user: server, partition: undefined };
    const search = new DocSearch(
      context,
      readQuery(context, {
        selector: { [field]: condition },
        fields: ['_id', '_rev', field],
        use_index: [ddoc, indexName],
        allow_fallback: false,
        limit: pageSize,
        ...(bookmark === undefined ? {} : { bookmark }),
      }),
    );
    await search.ready();
    let text = '';
    for (const pieces = search.pieces(); ;) {
      const { value, done } = pieces.next();
      text += value;
      if (done) return JSON.parse(fromBytes(asBytes(text))) as Page;
      await this.registry.runtime.nextTurn();
      await search.waiting;
    }
  }

  /** One that was changed meanwhile, or that a validation function keeps, stays. */
  async #delete(database: Database, docs: readonly Found[]): Promise<void> {
    if (docs.length === 0) return;
    const inputs = docs.map(({ _id, _rev }) =>
      plainInput(knownId(toBytes(_id)), parseRev(_rev), asBytes('{}'), true),
    );
    const saved = await saveDocs(this.registry, database, inputs, { user: server, newEdits: true });
    const refused = saved.filter((each) => each instanceof RequestError && each.error !== 'conflict');
    this.registry.logger.info(
      { database: database.name, deleted: saved.length - refused.length, refused: refused.length },
      'deleted expired documents',
    );
  }

  /** Work for a server that closes is broken off. */
}

interface Found extends Record<string, unknown> {
  _id: string;
  _rev: string;
}

interface Page {
  docs: Found[];
  bookmark?: string;
}

function isDue(value: unknown, now: number): boolean {
  const ms = expiryMs(value);
  return ms !== undefined && ms <= now;
}

function valueAt(doc: Found, field: string): unknown {
  let value: unknown = doc;
  for (const part of parseField(field))
    value =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
  return value;
}

const indexRequest = (database: Database, field: string): IndexRequest =>
  readIndexRequest({
    index: { fields: [field] },
    ddoc,
    name: indexName,
    type: 'json',
    ...(database.isPartitioned ? { partitioned: false } : {}),
  });

/** Refuses what can't be the name of a member. Does nothing where the index is there. */
export async function createExpiryIndex(
  registry: DatabaseRegistry,
  database: Database,
  field: string,
): Promise<void> {
  await createIndex({ registry, database, user: server }, indexRequest(database, field));
}

export async function removeExpiryIndex(registry: DatabaseRegistry, database: Database): Promise<void> {
  const isThere = queryIndexes(database).some((index) => index.ddoc === ddoc && index.name === indexName);
  if (isThere)
    await deleteIndex({ registry, database, user: server }, { ddoc, type: 'json', name: indexName });
}
