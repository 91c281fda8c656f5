/** The soak test of automatic compaction (`npm run test:soak -- compaction`) in short; the smaller the data, the more of a file is what commits need to work. */
import { testCompaction } from './compaction-rounds.js';

testCompaction(1_009, 8, { most: 3.5, last: 2.5 });
