import { toBytes } from '../base/bytes.js';
import type { ListedSetting } from './catalogue-commands.js';
import type { DatabaseRegistry } from './database-registry.js';

const namesAtOnce = 1_000;

/** The names of all databases, or of those that have a setting, read page by page while others are served. */
export async function* pagedNames(registry: DatabaseRegistry, having?: ListedSetting): AsyncIterable<string> {
  const all = { inclusiveEnd: true, descending: false, skip: 0, limit: namesAtOnce };
  const query = having === undefined ? all : { ...all, having };
  for (let names = [...registry.names(query)]; names.length > 0;) {
    yield* names;
    await registry.runtime.nextTurn();
    if (names.length < namesAtOnce) return;
    names = [...registry.names({ ...query, start: `${toBytes(names.at(-1)!)}\0` })];
  }
}
