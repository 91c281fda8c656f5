import { asBytes, fromBytes, noBytes, type Bytes } from '../base/bytes.js';
import { MemberPicker } from '../json/raw-fields.js';
import type { LocalReader } from '../shard/group-reader.js';
import { hasAttachments, splitContent } from '../shard/content.js';
import { decodeDocRecord, decodeWinner, type WinnerView } from '../shard/doc-record.js';
import { conflictsMember, docText } from '../shard/doc-text.js';
import type { LargeDocs } from '../selectors/large-docs.js';
import type { Selector } from '../selectors/selector.js';
import type { IndexRow, Seen } from './index-reader.js';
import type { Projection } from '../selectors/projection.js';

/** A document that was found, to be shown or reckoned with. */
export interface Match {
  readonly row: IndexRow;
  /** The document as it is shown: JSON text, with the fields that are asked for. */
  text(): Bytes;
  /** Its members, parsed; `_id` and `_rev` only where the selector asks for them. */
  parsed(): Readonly<Record<string, unknown>>;
}

/** The part of a document's content that the user may see; undefined if none. */
export type Visible = (id: Bytes, content: Bytes) => Bytes | undefined;

export interface DocSource {
  readonly collection: LocalReader;
  shardOf(id: Bytes): number;
  /** Undefined where everything may be seen. */
  readonly visible: Visible | undefined;
}

/** Holds documents against a selector, and parses no more of them than that takes. */
export class DocMatcher {
  readonly #needsText: boolean;
  readonly #isOpen: boolean;
  readonly #needsId: boolean;
  readonly #needsRev: boolean;
  readonly #names: ReadonlySet<string>;
  /** Whether anything of the body is looked at. */
  readonly #isOfBody: boolean;
  /** Made for the first document that is large. */
  #members: MemberPicker | undefined;

  constructor(
    private readonly source: DocSource,
    private readonly selector: Selector,
    private readonly conflicts: boolean,
    private readonly projection: Projection | undefined,
    /** Members that are needed beside those that the selector looks at. */
    others: readonly string[],
    /** Judges large documents beside this thread. Undefined where all are judged here. */
    private readonly large?: LargeDocs,
  ) {
    const members = new Set([...selector.members, ...others]);
    this.#needsId = members.has('_id');
    this.#needsRev = members.has('_rev');
    const isNotStored = (name: string): boolean => name.startsWith('_') && name !== '_id' && name !== '_rev';
    this.#needsText = selector.isOfDocument || [...members].some(isNotStored);
    this.#isOpen = selector.normal.kind === 'everything';
    // No stored body has them.
    this.#names = new Set([...members].filter((name) => name !== '_id' && name !== '_rev'));
    this.#isOfBody = this.#names.size > 0 || selector.isWhole;
  }

  /**
   * Undefined where the document does not match, or is gone. `seen` is given where the row alone tells that it does. A promise
   * where the document is large.
   */
  match(row: IndexRow, seen?: Seen): Match | Promise<Match | undefined> | undefined {
    const record = row.record ?? this.source.collection.liveRecord(row);
    if (record === undefined) return undefined;
    const winner = decodeWinner(record);
    const content = this.#content(row.id, winner);
    if (content === undefined) return undefined;
    const matches = this.#isOpen || seen?.has(winner.seq, () => this.source.shardOf(row.id)) === true;
    if (this.large?.isLarge(content) === true && this.#isCostly(matches, this.large))
      return this.#matchLarge(this.large, row, record, winner, content, matches);
    let parsed: JsonObject | undefined;
    if (!matches) {
      parsed = this.parse(row, record, winner, content);
      if (!this.selector.matches(parsed)) return undefined;
    }
    return new Found(this, row, record, winner, content, parsed);
  }

  /** Whether a large document takes long: not where it is shown as it is, and known to match without a look at its body. */
  #isCostly(matches: boolean, { fields }: LargeDocs): boolean {
    return fields !== undefined || (!matches && (this.#isOfBody || this.#needsText));
  }

  async #matchLarge(
    large: LargeDocs,
    row: IndexRow,
    record: Bytes,
    winner: WinnerView,
    content: Bytes,
    matches: boolean,
  ): Promise<Match | undefined> {
    const takesFields = large.fields !== undefined;
    const whole = takesFields || this.#needsText ? this.#text(row, record, winner, content) : noBytes;
    const seen = this.#needsText ? whole : bodyOf(content);
    const verdict = await large.judge({
      text: matches ? undefined : seen,
      added: this.#needsText ? {} : this.#added(row.id, winner),
      shown: takesFields ? whole : undefined,
    });
    if (!verdict.matches) return undefined;
    // Where documents are not shown, what is taken out of them is what is reckoned with.
    if (this.projection !== undefined)
      return new Found(this, row, record, winner, content, undefined, verdict.fields);
    return new Found(this, row, record, winner, content, verdict.fields && parseText(verdict.fields));
  }

  /** A document that was found, as it is shown. */
  shown(row: IndexRow, record: Bytes, winner: WinnerView, content: Bytes): Bytes {
    const text = this.#text(row, record, winner, content);
    return this.projection === undefined ? text : this.projection.of(text);
  }

  #text(row: IndexRow, record: Bytes, winner: WinnerView, content: Bytes): Bytes {
    const extra = this.conflicts && winner.conflicted ? conflictsMember(decodeDocRecord(record)) : noBytes;
    return docText(row.id, winner, content, extra);
  }

  parse(row: IndexRow, record: Bytes, winner: WinnerView, content: Bytes): JsonObject {
    return this.#needsText
      ? parseText(this.#text(row, record, winner, content))
      : this.#parseBody(row.id, winner, content);
  }

  #content(id: Bytes, winner: WinnerView): Bytes | undefined {
    const content = winner.body ?? this.source.collection.winnerBody(this.source.shardOf(id), winner);
    return this.source.visible === undefined ? content : this.source.visible(id, content);
  }

  #parseBody(id: Bytes, winner: WinnerView, content: Bytes): JsonObject {
    const body = bodyOf(content);
    const doc = parseText(body.length < largeDocBytes || this.selector.isWhole ? body : this.#pick(body));
    if (this.#needsId) doc['_id'] = fromBytes(id);
    if (this.#needsRev) doc['_rev'] = `${winner.pos}-${winner.hash}`;
    return doc;
  }

  #added(id: Bytes, winner: WinnerView): Record<string, string> {
    const added: Record<string, string> = {};
    if (this.#needsId) added['_id'] = fromBytes(id);
    if (this.#needsRev) added['_rev'] = `${winner.pos}-${winner.hash}`;
    return added;
  }

  /** The members that are needed. */
  #pick(body: Bytes): Bytes {
    if (this.#names.size === 0) return emptyBody;
    this.#members ??= new MemberPicker([...this.#names]);
    return this.#members.of(body);
  }
}

const emptyBody = asBytes('{}');

const bodyOf = (content: Bytes): Bytes => (hasAttachments(content) ? splitContent(content).body : content);

/** Of a smaller document all is parsed: that costs less than looking for what is needed. */
const largeDocBytes = 32 * 1024;

class Found implements Match {
  constructor(
    private readonly matcher: DocMatcher,
    readonly row: IndexRow,
    private readonly record: Bytes,
    private readonly winner: WinnerView,
    private readonly content: Bytes,
    private known: JsonObject | undefined,
    /** The text, where it was made together with the verdict. */
    private readonly made?: Bytes,
  ) {}

  text(): Bytes {
    return this.made ?? this.matcher.shown(this.row, this.record, this.winner, this.content);
  }

  parsed(): JsonObject {
    return (this.known ??= this.matcher.parse(this.row, this.record, this.winner, this.content));
  }
}

type JsonObject = Record<string, unknown>;

const parseText = (text: Bytes): JsonObject => JSON.parse(fromBytes(text)) as JsonObject;
