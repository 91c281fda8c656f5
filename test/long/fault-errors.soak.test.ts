import { testErrors } from './fault-rounds.js';

testErrors(100, 40);
