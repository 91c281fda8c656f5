import { isUtf8 } from 'node:buffer';
import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import type { SentInput } from '../../shard/document-input.js';
import { readDocument } from '../../documents/read-document.js';
import { parseValue, scanBulk, scanDocument, type Member, type ScannedObject } from '../../json/scan.js';
import { formatRev, parseRev, type Rev } from '../../revisions/rev.js';
import { PeerFailure, type CarriedAttachment, type DocRevision } from '../peer.js';
import { without } from '../without.js';
import { membersOf } from './members.js';

/** Reads an attachment of a revision from where the document came from. */
export type OpenAttachment = (
  id: Bytes,
  rev: Rev,
  attachment: Omit<CarriedAttachment, 'open'>,
) => Promise<AsyncIterable<Buffer>>;

interface Entry {
  name: string;
  members: Readonly<Record<string, unknown>>;
  carried: boolean;
}

/** A revision as another server gave it: its text is handed on as it is, and no number in it is read. */
export class HttpRevision implements DocRevision {
  readonly id: Bytes;
  readonly rev: Rev;
  readonly carried: readonly CarriedAttachment[];
  readonly #json: Buffer;
  #scannedOnce: ScannedObject | undefined;
  /** In the order of the text, which is that of the parts that follow. */
  readonly #entries: readonly Entry[];
  #path: Set<string> | undefined;

  constructor(
    json: Buffer,
    private readonly ancestorsOf: (id: Bytes) => readonly Rev[],
    private readonly open: OpenAttachment,
    head?: PlainHead,
  ) {
    this.#json = json;
    if (head !== undefined) {
      this.id = head.id;
      this.rev = head.rev;
      this.#entries = this.carried = nothing;
      return;
    }
    this.id = this.#text('_id');
    this.rev = parseRev(fromBytes(this.#text('_rev')));
    this.#entries = this.#readEntries();
    this.carried =
      this.#entries.length === 0
        ? nothing
        : this.#entries.filter((entry) => entry.carried).map((entry) => this.#carry(entry));
  }

  get #scanned(): ScannedObject {
    if (this.#scannedOnce !== undefined) return this.#scannedOnce;
    const scanned = scanDocument(this.#json);
    if (scanned.kind !== 'object') throw new PeerFailure('A document that was read is not an object.');
    return (this.#scannedOnce = scanned);
  }

  get bytes(): number {
    return this.#json.length;
  }

  get hasAttachments(): boolean {
    return this.#entries.length > 0;
  }

  json(): Buffer {
    return this.carried.length === 0 ? this.#json : Buffer.from(this.text(), 'latin1');
  }

  text(): Bytes {
    if (this.carried.length === 0) return this.#json.latin1Slice(0, this.#json.length);
    const { valueStart, valueEnd } = this.#member('_attachments')!;
    const entries = this.#entries.map(({ name, members, carried }) => {
      const shown = carried ? { ...without(members, 'stub'), follows: true } : members;
      return `${JSON.stringify(name)}:${JSON.stringify(shown)}`;
    });
    const before = this.#json.latin1Slice(0, valueStart);
    return asBytes(
      `${before}{${toBytes(entries.join(','))}}${this.#json.latin1Slice(valueEnd, this.#json.length)}`,
    );
  }

  input(): SentInput {
    const carries = this.carried.length > 0;
    const scanned = carries ? scanDocument(Buffer.from(this.text(), 'latin1')) : this.#scanned;
    return { ...readDocument(scanned, noLimits), id: this.id };
  }

  carryingAll(): DocRevision {
    return new HttpRevision(this.#json, () => [], this.open);
  }

  /** This revision and those that it descends from, newest first, folded. */
  get path(): ReadonlySet<string> {
    return (this.#path ??= this.#readPath());
  }

  #readPath(): Set<string> {
    const path = new Set([foldedRev(this.rev)]);
    const { start, ids } = membersOf(this.#special('_revisions'));
    if (typeof start !== 'number' || !Array.isArray(ids)) return path;
    for (const [i, hash] of ids.entries()) path.add(foldedRev({ pos: start - i, hash: String(hash) }));
    return path;
  }

  /** What the newest ancestor on the other side has already need not be carried there. */
  #readEntries(): readonly Entry[] {
    const member = this.#member('_attachments');
    if (member === undefined) return nothing;
    const bytes = this.#json.subarray(member.valueStart, member.valueEnd);
    let knownPos = 0;
    for (const each of this.ancestorsOf(this.id)) {
      if (each.pos > knownPos && this.path.has(foldedRev(each))) knownPos = each.pos;
    }
    return (scanBulk(bytes, '')?.members ?? []).map(({ name, valueStart, valueEnd }) => {
      const members = membersOf(parseValue(bytes, valueStart, valueEnd));
      const carried = members['stub'] === true && !(Number(members['revpos']) <= knownPos);
      return { name, members, carried };
    });
  }

  #carry({ name, members }: Entry): CarriedAttachment {
    const gzip = members['encoding'] === 'gzip';
    const length = Number(gzip ? members['encoded_length'] : members['length']);
    if (!Number.isSafeInteger(length) || length < 0)
      throw new PeerFailure('An attachment that was read has no length.');
    const attachment = { name, type: String(members['content_type'] ?? standardType), length, gzip };
    return { ...attachment, open: () => this.open(this.id, this.rev, attachment) };
  }

  #member(name: string): Member | undefined {
    return this.#scanned.special.find((each) => each.name === name);
  }

  /** Nearly always without escapes, and then it stands there as it is. */
  #text(name: string): Bytes {
    const member = this.#member(name);
    if (member === undefined || this.#json[member.valueStart] !== quote)
      throw new PeerFailure('A document that was read has no id or no revision.');
    const text = this.#json.latin1Slice(member.valueStart + 1, member.valueEnd - 1);
    return text.includes('\\') ? toBytes((this.#special(name) as string).toWellFormed()) : text;
  }

  #special(name: string): unknown {
    const member = this.#member(name);
    return member && parseValue(this.#json, member.valueStart, member.valueEnd);
  }
}

/** A document without attachments whose id and revision stand first, as nearly all servers write them. */
export interface PlainHead {
  json: Buffer;
  id: Bytes;
  rev: Rev;
}

/** Undefined where the text has to be scanned to know what it is. */
export function plainHead(json: Buffer): PlainHead | undefined {
  if (json.includes(attachmentsName) || json.includes(unicodeEscape) || !isUtf8(json)) return undefined;
  if (json[json.length - 1] !== closeBrace) return undefined;
  const idEnd = json.indexOf(quote, idOpening.length);
  const revStart = idEnd + revOpening.length;
  const revEnd = json.indexOf(quote, revStart);
  if (idEnd < 0 || revEnd < 0) return undefined;
  const text = json.latin1Slice(0, revEnd);
  if (text.includes('\\') || !text.startsWith(idOpening) || !text.startsWith(revOpening, idEnd))
    return undefined;
  const rev = plainRev.test(text.slice(revStart)) ? parseRev(text.slice(revStart)) : undefined;
  return rev && { json, id: text.slice(idOpening.length, idEnd), rev };
}

/** What nearly all are. */
const plainRev = /^[1-9]\d{0,8}-[0-9a-f]{32}$/;
const idOpening = '{"_id":"';
const revOpening = '","_rev":"';
const attachmentsName = Buffer.from('_attachments');
/** With one of them, the name might be written in another way. */
const unicodeEscape = Buffer.from('\\u');

/** A revision to compare others with, whose digits other servers may write in capitals. */
export const foldedRev = (rev: Rev): string => formatRev(rev).toLowerCase();

/** The side that saves it has limits of its own. */
const noLimits = { document_bytes_max: Infinity, id_bytes_max: Infinity };
const nothing: readonly never[] = [];
const quote = 0x22;
const closeBrace = 0x7d;
const standardType = 'application/octet-stream';
