import { testFullDisk } from './fault-rounds.js';

testFullDisk(20, 256);
