import { notFound } from '../base/errors.js';
import type { Bytes } from '../base/bytes.js';
import type { StreamHead, StreamPlace } from '../log/stream-place.js';
import type { Delivery, Outcome, StreamTarget } from '../log/stream-target.js';
import { decodeCommand } from '../shard/command-codec.js';
import type { Command } from '../shard/commands.js';
import type { PlacedSteps } from '../shard/placed-steps.js';
import type { Volume } from '../shard/volume.js';
import { decodeCatalogueCommand } from './catalogue-codec.js';
import type { Catalogue } from './catalogue.js';
import type { Volumes } from './volumes.js';

/** The groups of a stream, in whichever volumes of this node they are. */
export class GroupsTarget implements StreamTarget {
  constructor(
    private readonly stream: number,
    private readonly catalogue: Pick<Catalogue, 'home'>,
    private readonly volumes: Pick<Volumes, 'get' | 'all'>,
    /** Resolves when these blobs are on this node, or nowhere. */
    private readonly bringBlobs: (digests: readonly string[]) => Promise<void>,
    /** Whether feeds wait for changes of a group. */
    private readonly isFollowed: (group: number) => boolean = () => false,
  ) {}

  place(): StreamPlace | undefined {
    return this.#places()[0];
  }

  reach(): StreamPlace | undefined {
    return this.#places().at(-1);
  }

  heads(): StreamHead[] {
    return this.#places().map(({ head }) => head);
  }

  async adopt(head: StreamHead): Promise<void> {
    await Promise.all(this.#steps().map((steps) => steps.adopt(head)));
  }

  #places(): StreamPlace[] {
    const places = this.#steps().flatMap(({ place }) => place ?? []);
    return places.sort((a, b) => a.head.seq - b.head.seq || a.index - b.index || a.done - b.done);
  }

  reload(): void {
    for (const steps of this.#steps()) steps.reload();
  }

  storedSeq(): number | undefined {
    const stored = this.#steps().flatMap(({ storedSeq }) => storedSeq ?? []);
    return stored.length === 0 ? undefined : Math.min(...stored);
  }

  async begin(head: StreamHead): Promise<void> {
    await Promise.all(this.#steps().map((steps) => steps.begin(head)));
  }

  advance(head: StreamHead): void {
    const all = this.#steps();
    const isNew = all.every(({ place }) => place === undefined);
    for (const steps of all)
      // A stream without commands is noted too: others have to know that this node has all of it.
      if (isNew) steps.begin(head).catch(() => undefined);
      else steps.advance(head);
  }

  async apply(given: Delivery): Promise<(Promise<Outcome> | undefined)[]> {
    const commands = given.commands.map(decodeCommand);
    const isPatient = given.isPatient === true && !commands.some(({ instance }) => this.isFollowed(instance));
    const delivery = { ...given, isPatient };
    const blobs = commands.flatMap((command) =>
      command.type === 'edit' ? [...(command.stored_blobs ?? [])] : [],
    );
    if (blobs.length > 0) await this.bringBlobs(blobs);
    for (const volume of new Set(this.#volumesOf(commands)))
      await volume?.steps(this.stream).begin(delivery.before);
    // Groups may have been deleted meanwhile.
    const homes = this.#volumesOf(commands);
    return commands.map((command, index) => {
      const volume = homes[index];
      if (volume === undefined) return Promise.resolve({ rejected: notFound('Database does not exist.') });
      const isLast = homes.lastIndexOf(volume) === index;
      return volume.steps(this.stream).run(delivery, index, isLast, volume.work(command));
    });
  }

  hurry(): void {
    for (const volume of this.volumes.all()) volume.hurry();
  }

  #volumesOf(commands: readonly Command[]): (Volume | undefined)[] {
    return commands.map(({ instance }) => {
      const home = this.catalogue.home(instance);
      return home === undefined ? undefined : this.volumes.get(home.slot);
    });
  }

  #steps(): PlacedSteps[] {
    return this.volumes.all().map((volume) => volume.steps(this.stream));
  }
}

/** The catalogue of this node. */
export class CatalogueTarget implements StreamTarget {
  constructor(
    private readonly catalogue: Pick<Catalogue, 'steps' | 'log'>,
    private readonly volumes: Pick<Volumes, 'prepareForNew'>,
  ) {}

  place(): StreamPlace | undefined {
    return this.catalogue.steps.place;
  }

  reach(): StreamPlace | undefined {
    return this.catalogue.steps.place;
  }

  heads(): StreamHead[] {
    const { place } = this.catalogue.steps;
    return place === undefined ? [] : [place.head];
  }

  async adopt(head: StreamHead): Promise<void> {
    await this.catalogue.steps.adopt(head);
  }

  reload(): void {
    this.catalogue.steps.reload();
  }

  storedSeq(): number | undefined {
    return this.catalogue.steps.storedSeq;
  }

  /** Nothing here is patient: other streams wait for the catalogue. */
  hurry(): void {}

  async begin(head: StreamHead): Promise<void> {
    await this.catalogue.steps.begin(head);
  }

  advance(head: StreamHead): void {
    this.catalogue.steps.advance(head);
  }

  async apply(delivery: Delivery): Promise<(Promise<Outcome> | undefined)[]> {
    const { steps, log } = this.catalogue;
    const commands = delivery.commands.map((bytes: Bytes) => decodeCatalogueCommand(bytes));
    if (commands.some(({ type }) => type === 'create' || type === 'divide'))
      await this.volumes.prepareForNew();
    const last = commands.length - 1;
    return commands.map((command, index) =>
      steps.run({ ...delivery, isPatient: false }, index, index === last, () => ({
        result: log.apply(command),
      })),
    );
  }
}
