import type { CatalogueCommand, CatalogueResults } from '../../src/node/catalogue-commands.js';
import type { Command, Results } from '../../src/shard/commands.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { catalogueScene, sharedContents } from '../log/catalogue-commands.js';
import { groupScene, instance } from '../log/group-commands.js';
import { logSuite, type LogScene } from '../log/log-suite.js';
import { newStores } from '../log/stores.js';
import { seed } from '../model/random.js';
import type { Stream } from '../../src/log/stream.js';
import { openCatalogue, openVolume, StreamsOfStores } from './replicated-scenes.js';

const keys = new DatabaseKeys(instance);

/** What every log promises, of logs on streams of a kind. */
export function streamLogSuites(
  kind: string,
  newStream: () => Stream,
  stores: Partial<typeof newStores> = newStores,
): void {
  const streams = new StreamsOfStores(newStream);
  const groups: LogScene<Command, Results> = {
    ...groupScene,
    isReplicated: true,
    open: (store) => {
      const { volume, close } = openVolume(store, streams.of(store));
      return { log: volume.log(instance), contents: () => [...volume.store.entries(keys.range)], close };
    },
  };
  const catalogue: LogScene<CatalogueCommand, CatalogueResults> = {
    ...catalogueScene,
    isReplicated: true,
    open: (store) => {
      const { catalogue: opened, close } = openCatalogue(store, streams.of(store));
      return { log: opened.log, contents: () => sharedContents(store), close };
    },
  };
  for (const [name, newStore] of Object.entries(stores)) {
    logSuite(`the log of a group on ${kind}, ${name}, seed ${seed}`, streams.tie(newStore), groups);
    logSuite(`the log of the catalogue on ${kind}, ${name}, seed ${seed}`, streams.tie(newStore), catalogue);
  }
}
