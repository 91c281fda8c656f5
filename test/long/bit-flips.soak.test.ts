/** `npm run test:soak -- bit-flips`; TUFFET_RUN_SEED chooses the bytes. */
import { testBitFlips } from './bit-flips.js';

testBitFlips(1_000, Infinity);
