import { test } from 'node:test';
import { seed } from '../model/random.js';
import { killWhileSplitting } from './kill-while-splitting.js';

test(`splits go on, however often the server is killed (seed ${seed})`, (t) =>
  killWhileSplitting(t, seed, 8));
