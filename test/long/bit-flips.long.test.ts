import { testBitFlips } from './bit-flips.js';

testBitFlips(1_000, 25_000);
