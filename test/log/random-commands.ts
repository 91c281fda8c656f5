import { asBytes, noBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import type { Rev } from '../../src/revisions/rev.js';
import type {
  Command,
  Edit,
  EditCommand,
  EditResult,
  LocalEdit,
  SplitCommand,
} from '../../src/shard/commands.js';
import { onlyBlobsOf } from '../../src/shard/divide-edits.js';
import { encodeContent } from '../../src/shard/content.js';
import { validatorsToken } from '../../src/shard/validators.js';
import type { Random } from '../model/random.js';

const ids: Bytes[] = [
  ...Array.from({ length: 12 }, (_, n) => asBytes(`doc-${n}`)),
  asBytes('_design/d'),
  toBytes('ä😀\u0001"'),
  asBytes('long'.repeat(600)),
  asBytes(`${'long'.repeat(600)}b`),
];
/** What a group may know of validation functions: none, a digest, that they are being changed. */
const validators: Bytes[] = [
  noBytes,
  asBytes('\xfe'.repeat(32)),
  validatorsToken(asBytes('\xfd'.repeat(16))),
];
/** A document is in one shard of its database for good: ids are dealt out to these. */
const shardNumbers = [0, 1, 255];

/** Commands of all types. It knows revisions that exist, so that most of them find something to do. */
export class RandomCommands {
  readonly #revs = new Map<Bytes, Rev[]>();
  readonly #blobs: string[];

  constructor(
    private readonly random: Random,
    private readonly instances = [1, 2, 2 ** 40 - 1],
  ) {
    this.#blobs = Array.from({ length: 6 }, () => random.hex(64));
  }

  next(): Command {
    const { random } = this;
    const place = {
      instance: random.pick(this.instances),
      shard: random.pick(shardNumbers),
      ...(random.oneIn(2) ? { id: asBytes(random.bytes(16)) } : {}),
    };
    const idsHere = ids.filter((_, at) => shardNumbers[at % shardNumbers.length] === place.shard);
    const some = <T>(make: (id: Bytes) => T): T[] =>
      Array.from({ length: random.below(4) }, () => make(random.pick(idsHere)));
    switch (random.below(10)) {
      case 0:
        return { type: 'local', ...place, edits: some((id) => this.#local(id)) };
      case 1:
        return {
          type: 'purge',
          ...place,
          uuid: random.hex(32),
          purges: some((id) => this.#purge(id)),
          ...this.#checked(),
        };
      case 3:
        return this.#split(place.instance);
      case 4:
        return {
          type: 'validators',
          ...place,
          expected: random.pick([undefined, ...validators]),
          value: random.pick(validators),
        };
      case 2:
        return {
          type: 'compact',
          ...place,
          ids: some((id) => id),
          purged_infos_limit: random.below(9),
        };
      default:
        return this.#edits(
          place,
          some((id) => this.#edit(id)),
        );
    }
  }

  /** A command brings the blobs that its edits name, some of them at least, and no others. */
  #edits(place: { instance: number; shard: number }, edits: Edit[]): EditCommand {
    const { random } = this;
    const command: EditCommand = {
      type: 'edit',
      ...place,
      revs_limit: random.pick([1, 3, 1_000]),
      edits,
      ...this.#checked(),
      ...(random.below(4) === 0 ? { compacting: true } : {}),
      ...this.#brought(),
    };
    return onlyBlobsOf(command, edits);
  }

  /** The validation functions that a command was checked against, mostly none. */
  #checked(): { validators?: Bytes } {
    return this.random.oneIn(2) ? {} : { validators: this.random.pick(validators) };
  }

  /** Steps of a split that stays under way: commands of that shard are written to its targets too. */
  #split(instance: number): SplitCommand {
    const { random } = this;
    const upTo = random.below(4);
    return {
      type: 'split',
      instance,
      shard: 0,
      step: random.pick(['begin', 'copy', 'remove', 'end'] as const),
      q: 256,
      table: random.pick(['changes', 'purges'] as const),
      numbers: Array.from({ length: upTo }, (_, at) => at + 1),
      after: 0,
      upTo,
      of: random.below(600),
    };
  }

  /** Takes note of the revisions that a command has made. */
  learn(command: Command, result: unknown): void {
    if (command.type !== 'edit') return;
    for (const [at, rev] of (result as EditResult[]).entries())
      if (typeof rev === 'object') this.#learnRev(command.edits[at]!.id, rev);
  }

  #learnRev(id: Bytes, rev: Rev): void {
    this.#revs.set(id, [...this.#revsOf(id), rev].slice(-8));
  }

  #revsOf(id: Bytes): Rev[] {
    return this.#revs.get(id) ?? [];
  }

  #edit(id: Bytes): Edit {
    const { random } = this;
    const body =
      id === '_design/d' && random.oneIn(3) ? asBytes('{"validate_doc_update":"f"}') : this.#body();
    const common = { id, deleted: random.oneIn(4), body };
    const known = random.oneIn(5) ? undefined : this.#revsOf(id).at(-1 - random.below(2));
    if (random.oneIn(2)) return { ...common, parent: known, path: undefined };
    const hash = random.pick([random.hex(32), random.hex(3), `é${random.hex(2)}`]);
    const hashes = known === undefined ? [hash, random.hex(32)] : [hash, known.hash];
    return { ...common, parent: undefined, path: { start: (known?.pos ?? 1) + 1, hashes } };
  }

  #body(): Bytes {
    const { random } = this;
    const text = asBytes(
      `{"n":${random.below(50)},"pad":"${'x'.repeat(random.pick([0, 10, 1_020, 3_000]))}"}`,
    );
    if (!random.oneIn(3)) return text;
    const blob = random.pick(this.#blobs);
    const sizes = { length: 5, storedLength: 5, revpos: 1 };
    return encodeContent([{ name: 'é', type: 'text/plain', md5: 'm', gzip: false, blob, ...sizes }], text);
  }

  #brought(): Pick<EditCommand, 'small_blobs' | 'stored_blobs'> {
    const { random } = this;
    // The first half of the blobs is small: one that is here and there a file would be another blob.
    const small = this.#blobs
      .slice(0, 3)
      .map((blob): [string, Bytes] => [blob, asBytes(`\0\xff${blob.slice(0, 3)}`)]);
    return {
      ...(random.oneIn(2) ? { small_blobs: new Map(small.slice(random.below(3))) } : {}),
      ...(random.oneIn(2) ? { stored_blobs: new Set(this.#blobs.slice(3 + random.below(3))) } : {}),
    };
  }

  #local(id: Bytes): LocalEdit {
    return { id: asBytes(`_local/${id}`), rev: this.random.pick([0, 1, 300, 2 ** 40]), body: this.#body() };
  }

  #purge(id: Bytes): { id: Bytes; revs: Rev[] } {
    return { id, revs: this.#revsOf(id).slice(this.random.below(3)) };
  }
}
