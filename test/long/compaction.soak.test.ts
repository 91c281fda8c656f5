import { testCompaction } from './compaction-rounds.js';

testCompaction(20_001, 50, { most: 2.2, last: 1.5, rate: 0.7, p99Ms: 50 });
