import { describe, type TestContext } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import type { Rev } from '../../src/revisions/rev.js';
import type { Edit, EditCommand } from '../../src/shard/commands.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { newStores } from './stores.js';

/** The group that commands are for. */
export const instance = 3;
export const keys = new DatabaseKeys(instance);

export const edit = (id: string, parent?: Rev, body = '{}'): Edit => ({
  id: asBytes(id),
  parent,
  path: undefined,
  deleted: false,
  body: asBytes(body),
});

export const edits = (list: Edit[], more: Partial<EditCommand> = {}): EditCommand => ({
  type: 'edit',
  instance,
  shard: 0,
  revs_limit: 100,
  edits: list,
  ...more,
});

/** The keys of the group in a table. */
export const keysOf = (volume: Volume, table: number): Bytes[] =>
  [...volume.store.keys(keys.range)].filter((key) => key.charCodeAt(5) === table);

/** Opens the volume of a test, anew each time. */
export type Open = (t: TestContext) => () => Volume;

/** Has tests run on both kinds of store, with commands passed as they are and as bytes. */
export function everyWay(name: string, tests: (open: Open, encoded: boolean) => void): void {
  for (const [store, newStore] of Object.entries(newStores))
    for (const encoded of [false, true])
      describe(`${name}, ${store}${encoded ? ', encoded' : ''}`, () =>
        tests((t) => {
          const again = newStore(t);
          return () => new Volume(0, again(), () => {}, encoded);
        }, encoded));
}
