import type { Runtime } from '../../base/runtime.js';
import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import type { DocumentInput, NamedInput } from '../../shard/document-input.js';
import { largeDocumentBytes, readDocument, readLargeDocument } from '../../documents/read-document.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import { formatRev, type Rev } from '../../revisions/rev.js';
import { admissionRefusal } from '../../documents/pass-gates.js';
import { saveDocs, type Saved } from '../../documents/save-docs.js';
import { parseValue, scanDocument, type Member, type ScannedValue } from '../../json/scan.js';
import { inputLimits, newId } from './edit-request.js';
import type { Exchange } from '../exchange.js';
import { lacksCopies } from './quorum.js';
import { refusalText } from '../answer/statuses.js';

/** What a bulk request says beside its documents. */
export interface BulkSettings {
  newEdits: boolean;
  allOrNothing: boolean;
  /** How many copies are asked for, if the body says so. */
  w: unknown;
}

/** Reads them from the members of the body. */
export function bulkSettings(bytes: Buffer, members: readonly Member[]): BulkSettings {
  const value = (name: string): unknown => {
    const member = members.find((each) => each.name === name);
    return member && parseValue(bytes, member.valueStart, member.valueEnd);
  };
  const newEdits = members.some(({ name }) => name === 'new_edits') ? value('new_edits') : true;
  if (typeof newEdits !== 'boolean') throw badRequest('`new_edits` parameter must be a boolean.');
  return { newEdits, allOrNothing: newEdits && value('all_or_nothing') === true, w: value('w') };
}

export function checkDocs(members: readonly Member[], isArray: boolean): void {
  if (!members.some(({ name }) => name === 'docs'))
    throw badRequest('POST body must include `docs` parameter.');
  if (!isArray) throw badRequest('`docs` parameter must be an array.');
}

/** Turns documents as they come into saved ones and rows of the answer. */
export class BulkSaver {
  readonly #limits;
  readonly #docsMax: number;
  #count = 0;
  /** Whether there are fewer copies of something that was saved than are asked for. */
  isAccepted = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly database: Database,
  ) {
    this.#limits = inputLimits(exchange);
    this.#docsMax = exchange.services.config.number('tuffet/bulk_docs_max');
  }

  /** Refuses what cannot be a document, and one document too many. */
  read(scanned: ScannedValue): NamedInput {
    this.#countOne();
    return this.#named(readDocument(scanned, this.#limits));
  }

  /** The same for the text of a document, which takes time if it is large. */
  readText(bytes: Buffer): NamedInput | Promise<NamedInput> {
    if (bytes.length <= largeDocumentBytes) return this.read(scanDocument(bytes));
    this.#countOne();
    return readLargeDocument(bytes, this.#limits, this.runtime).then((input) => this.#named(input));
  }

  #countOne(): void {
    if (++this.#count > this.#docsMax)
      throw new RequestError('too_large', `A bulk request may hold ${this.#docsMax} documents at most.`);
  }

  #named(input: DocumentInput): NamedInput {
    input.id = this.database.docId(input.id ?? newId(this.exchange));
    return input as NamedInput;
  }

  get runtime(): Runtime {
    return this.exchange.runtime;
  }

  /** Documents that were read. */
  get count(): number {
    return this.#count;
  }

  /** Counts documents from the beginning again: for a second pass. */
  rewind(): void {
    this.#count = 0;
  }

  /** The error of a document that is refused without a look at its revision. */
  admissionRefusal(input: NamedInput): RequestError | undefined {
    const { user, services } = this.exchange;
    return admissionRefusal(services.registry.saveGates, this.database, input, user);
  }

  /**
   * As in CouchDB, one document that isn't admitted refuses the whole request. Replicators are told of each document
   * instead: CouchDB's own gives up where a request is refused.
   */
  async #checkAdmitted(inputs: readonly NamedInput[]): Promise<void> {
    const slice = this.runtime.slice();
    for (const input of inputs) {
      const refusal = this.admissionRefusal(input);
      if (refusal !== undefined) throw refusal;
      if (slice.isOver) await slice.next();
    }
  }

  /** Saves documents and gives a row for each, in their order. With `new_edits` off, success is silence. */
  async save(inputs: readonly NamedInput[], { newEdits, w }: BulkSettings): Promise<Bytes[]> {
    const { user, services } = this.exchange;
    if (newEdits) await this.#checkAdmitted(inputs);
    const saved = await saveDocs(services.registry, this.database, inputs, { user, newEdits });
    const accepted = inputs.length > 0 && (await lacksCopies(this.exchange, this.database, w));
    this.isAccepted ||= accepted;
    const rows: Bytes[] = [];
    const slice = this.runtime.slice();
    for (const [i, input] of inputs.entries()) {
      const result = saved[i]!;
      if (newEdits) rows.push(rowOf(input.id, result, accepted));
      else if (result instanceof RequestError) rows.push(refusedRow(input, result));
      if (i % 100 === 99 && slice.isOver) await slice.next();
    }
    return rows;
  }
}

/** The rows of documents that were not saved. */
export const failedRows = (inputs: readonly NamedInput[], refusal: RequestError): Bytes[] =>
  inputs.map(({ id }) => rowOf(id, refusal, false));

function rowOf(id: Bytes, saved: Saved, accepted: boolean): Bytes {
  if (!(saved instanceof RequestError))
    return asBytes(
      `{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(saved)}${accepted ? ',"accepted":true' : ''}}`,
    );
  return asBytes(`{"id":${quoteId(id)},${toBytes(refusalText(saved).slice(1))}`);
}

/** A replicator is told which revision was refused. */
function refusedRow(input: NamedInput, refusal: RequestError): Bytes {
  const refused = sentRev(input);
  const shownRev = refused === undefined ? '' : `"rev":${quoteRev(refused)},`;
  return asBytes(`{"id":${quoteId(input.id)},${shownRev}${toBytes(refusalText(refusal).slice(1))}`);
}

/** The revision that was sent as the document's own. */
const sentRev = ({ rev, revisions }: NamedInput): Rev | undefined =>
  revisions === undefined ? rev : { pos: revisions.start, hash: revisions.hashes[0] ?? '' };

export function refuseAllOrNothing(exchange: Exchange, inputs: readonly NamedInput[]): void {
  const rows = inputs.map((input) => ({
    id: fromBytes(input.id),
    rev: formatRev(sentRev(input) ?? { pos: 0, hash: '' }),
    error: 'not_implemented',
    reason: 'all_or_nothing is not supported',
  }));
  exchange.json(417, rows);
}
