import { testKills } from './fault-rounds.js';

testKills(100);
