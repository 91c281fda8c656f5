import type { TestContext } from 'node:test';
import { SystemRuntime, type Runtime } from '../../src/base/runtime.js';
import type { Logger } from '../../src/base/logger.js';
import type { Appended } from '../../src/log/log.js';
import { StreamReplica } from '../../src/log/stream-replica.js';
import type { StreamTarget } from '../../src/log/stream-target.js';
import type { Stream } from '../../src/log/stream.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { CatalogueTarget, GroupsTarget } from '../../src/node/stream-targets.js';
import type { CommandRoute } from '../../src/shard/group-log.js';
import { Volume } from '../../src/shard/volume.js';
import type { Store } from '../../src/storage/store.js';

/** Says nothing. */
export const quietLogger = { warn() {}, error() {}, info() {}, notice() {}, debug() {} } as unknown as Logger;

/** A replica of a stream that has one target. */
export function startReplica(
  stream: Stream,
  target: StreamTarget,
  node = 'a',
  timeoutMs = 30_000,
  runtime: Runtime = new SystemRuntime(),
): StreamReplica {
  const replica = new StreamReplica({
    stream,
    target,
    node,
    runtime,
    logger: quietLogger,
    timeoutMs: () => timeoutMs,
    cataloguePosition: () => 0,
    catalogueAt: () => Promise.resolve(),
  });
  replica.start();
  return replica;
}

export interface ReplicatedVolume {
  volume: Volume;
  replica: StreamReplica;
  close(): Promise<void>;
}

/** A volume whose groups are changed by what comes from a stream. */
export function openVolume(
  store: Store,
  stream: Stream,
  node = 'a',
  timeoutMs = 30_000,
  runtime: Runtime = new SystemRuntime(),
): ReplicatedVolume {
  const route: CommandRoute = {};
  const volume = new Volume(0, store, () => {}, false, runtime, route);
  const volumes = { get: () => volume, all: () => [volume] };
  const target = new GroupsTarget(1, { home: () => ({ slot: 0 }) }, volumes, () => Promise.resolve());
  const replica = startReplica(stream, target, node, timeoutMs, runtime);
  route.send = (_, bytes) => replica.send(bytes) as Promise<Appended<unknown>>;
  return {
    volume,
    replica,
    close: async () => {
      await replica.stop();
      await volume.close();
    },
  };
}

/** A catalogue that is changed by what comes from a stream. */
export function openCatalogue(
  store: Store,
  stream: Stream,
): { catalogue: Catalogue; close(): Promise<void> } {
  const catalogue = new Catalogue(store, () => {});
  const target = new CatalogueTarget(catalogue, { prepareForNew: () => Promise.resolve() });
  const replica = startReplica(stream, target);
  catalogue.log.send = (bytes) => replica.send(bytes) as Promise<Appended<unknown>>;
  return {
    catalogue,
    close: async () => {
      await replica.stop();
      await catalogue.close();
    },
  };
}

/** Gives every store that a test opens a stream, and the same one when it is opened again. */
export class StreamsOfStores {
  readonly #streams = new WeakMap<Store, Stream>();

  constructor(private readonly newStream: () => Stream) {}

  of(store: Store): Stream {
    let stream = this.#streams.get(store);
    if (stream === undefined) this.#streams.set(store, (stream = this.newStream()));
    return stream;
  }

  /** Stores of a test, all of which have the same contents and so the same stream. */
  tie(newStore: (t: TestContext) => () => Store): (t: TestContext) => () => Store {
    return (t) => {
      const open = newStore(t);
      const stream = this.newStream();
      return () => {
        const store = open();
        this.#streams.set(store, stream);
        return store;
      };
    };
  }
}
