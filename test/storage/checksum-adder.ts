import { addChecksums } from '../../src/storage/add-checksums.js';

/** Adds checksums to the store in a folder, in a process of its own that can be killed. */
process.send!('begun');
await addChecksums(process.argv[2]!);
process.disconnect?.();
