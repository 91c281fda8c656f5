import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { StreamReplica } from '../log/stream-replica.js';
import type { StreamTarget } from '../log/stream-target.js';
import type { ClusterTargets } from '../node/cluster-link.js';
import { CataloguePosition } from './catalogue-position.js';
import type { ClusterOptions } from './cluster-options.js';
import type { Followed } from './status.js';
import type { StreamName, StreamSources } from './stream-sources.js';

interface FollowingParts {
  options: ClusterOptions;
  sources: StreamSources;
  runtime: Runtime;
  logger: Logger;
  /** Whether all nodes host a stream. */
  isEverywhere(stream: number): boolean;
  /** Resolves when this node has these blobs of a stream, or no node has. */
  bring(digests: readonly string[], stream: number): Promise<void>;
  onBegin(stream: number, replica: StreamReplica): void;
  onLost(): void;
}

/** The streams that this node applies. */
export class Following {
  readonly streams = new Map<StreamName, Followed>();
  #catalogue = new CataloguePosition(0);
  #targets: ClusterTargets | undefined;

  constructor(private readonly parts: FollowingParts) {}

  /** Begins with the catalogue. */
  start(targets: ClusterTargets): StreamReplica {
    this.#targets = targets;
    this.#catalogue = new CataloguePosition(targets.cataloguePosition);
    return this.#follow('catalogue', targets.catalogue);
  }

  get origins(): readonly string[] {
    return this.streams.get('catalogue')?.replica.origins ?? [];
  }

  catalogueApplied(position: number): void {
    this.#catalogue.advance(position);
  }

  get cataloguePosition(): number {
    return this.#catalogue.current;
  }

  catalogueAt(position: number): Promise<void> {
    return this.#catalogue.when(position);
  }

  begin(stream: number): StreamReplica {
    const bring = (digests: readonly string[]): Promise<void> => this.parts.bring(digests, stream);
    const replica = this.#follow(stream, this.#targets!.groups(stream, bring));
    this.parts.onBegin(stream, replica);
    return replica;
  }

  replica(stream: StreamName): StreamReplica {
    const replica = this.streams.get(stream)?.replica;
    if (replica === undefined) throw new Unavailable('The node does not follow the stream now.');
    return replica;
  }

  /** Those that all nodes host. */
  everywhere(): Followed[] {
    return [...this.streams].flatMap(([name, each]) =>
      name === 'catalogue' || this.parts.isEverywhere(name) ? [each] : [],
    );
  }

  /** The last message of each stream that this node has on disk. */
  positions(): Record<string, number> {
    const stored = [...this.streams].map(([name, { replica }]) => [String(name), replica.storedSeq]);
    return Object.fromEntries(stored.filter(([, seq]) => seq !== undefined)) as Record<string, number>;
  }

  async stop(): Promise<void> {
    const stopped = [...this.streams.values()].map(({ replica }) => replica.stop());
    this.#catalogue.end(new Unavailable('The server is closing.'));
    await Promise.all(stopped);
  }

  #follow(stream: StreamName, target: StreamTarget): StreamReplica {
    const { options, sources, runtime, logger } = this.parts;
    const { node, timeoutMs } = options;
    const isCatalogue = stream === 'catalogue';
    const source = sources.get(stream);
    const replica = new StreamReplica({
      stream: source,
      target,
      node,
      runtime,
      logger,
      timeoutMs,
      cataloguePosition: () => (isCatalogue ? 0 : this.#catalogue.current),
      catalogueAt: (position) => this.#catalogue.when(position),
      onLost: (error) => {
        if (isCatalogue) this.#catalogue.end(error);
        this.parts.onLost();
      },
    });
    this.streams.set(stream, { stream: source, replica });
    replica.start();
    return replica;
  }
}
