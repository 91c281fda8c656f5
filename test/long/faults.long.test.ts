/** The soak tests (`npm run test:soak`) in short. */
import { testErrors, testFullDisk, testKills } from './fault-rounds.js';

testKills(10);
testErrors(20, 12);
testFullDisk(4, 256);
