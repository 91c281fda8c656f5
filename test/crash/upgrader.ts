import { needsUpgrade, upgradeVolume } from '../../src/shard/upgrade-volume.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';

/** Upgrades the volume in a folder, in a process of its own that can be killed. */
const store = new LmdbStore(process.argv[2]!);
process.send!(needsUpgrade(store) ? 'begun' : 'done before');
if (needsUpgrade(store)) await upgradeVolume(store);
await store.close();
process.disconnect?.();
