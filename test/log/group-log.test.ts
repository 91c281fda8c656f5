import type { Command, Results } from '../../src/shard/commands.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { seed } from '../model/random.js';
import { groupScene, instance } from './group-commands.js';
import { logSuite, type LogScene } from './log-suite.js';
import { newStores } from './stores.js';

const keys = new DatabaseKeys(instance);

const scene = (encoded: boolean): LogScene<Command, Results> => ({
  ...groupScene,
  open: (store) => {
    const volume = new Volume(0, store, () => {}, encoded);
    return {
      log: volume.log(instance),
      contents: () => [...volume.store.entries(keys.range)],
      close: () => volume.close(),
    };
  },
});

for (const [name, newStore] of Object.entries(newStores)) {
  logSuite(`the log of a group, ${name}, seed ${seed}`, newStore, scene(false));
  logSuite(`the log of a group, ${name}, encoded commands, seed ${seed}`, newStore, scene(true));
}
