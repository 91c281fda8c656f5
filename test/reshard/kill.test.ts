import { test } from 'node:test';
import { seed } from '../model/random.js';
import { killWhileDividing } from './kill-while-dividing.js';
import { killWhileSplitting } from './kill-while-splitting.js';

test(`a split goes on after the server was killed, and nothing is lost (seed ${seed})`, (t) =>
  killWhileSplitting(t, seed, 2));

test(`a division goes on after the server was killed, and nothing is lost (seed ${seed})`, (t) =>
  killWhileDividing(t, seed, ['topoff1']));
