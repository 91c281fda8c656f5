import { asBytes } from '../../src/base/bytes.js';
import type { EditCommand } from '../../src/shard/commands.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import type { Entry } from '../../src/storage/store.js';
import type { ReplicatedVolume } from './replicated-scenes.js';

/** The group of all commands. */
export const instance = 3;
const keys = new DatabaseKeys(instance);

/** Begins these documents. */
export const edit = (...ids: string[]): EditCommand => ({
  type: 'edit',
  instance,
  shard: 0,
  revs_limit: 100,
  edits: ids.map((id) => ({
    id: asBytes(id),
    parent: undefined,
    path: undefined,
    deleted: false,
    body: asBytes('{}'),
  })),
});

export const contents = ({ volume }: ReplicatedVolume): Entry[] => [...volume.store.entries(keys.range)];
