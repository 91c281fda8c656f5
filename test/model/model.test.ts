import { test } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { Config } from '../../src/config/config.js';
import { checkDoc } from './check-doc.js';
import { Random, seed } from './random.js';
import { ids, q, World } from './world.js';
import { memoryViews } from '../support/views.js';

const operations = 1_200;

for (const [round, groups] of [1, 1, 3].entries()) {
  test(`documents live as the model says, whatever happens to them (seed ${seed}, life ${round}, groups: ${groups})`, async () => {
    const logger = createLogger({ level: 'none', format: 'text' });
    const registry = new DatabaseRegistry(
      new Config(),
      logger,
      undefined,
      new MemoryBlobStore(),
      memoryViews(logger),
      false,
      undefined,
      undefined,
      groups,
    );
    await registry.createDatabase('db', { q });
    const world = new World(registry, registry.database('db'), new Random(seed + round));
    for (let step = 0; step < operations; step++) {
      await world.step();
      world.checkCounters();
      const id = world.random.pick(ids);
      checkDoc(world.database, id, world.models.get(id)!);
      if (step % 50 === 0) {
        for (const [each, model] of world.models) checkDoc(world.database, each, model);
        await world.checkAll();
      }
    }
    await world.checkAll();
    await registry.close();
  });
}
