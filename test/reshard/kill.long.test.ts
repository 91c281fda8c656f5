import { test } from 'node:test';
import { seed } from '../model/random.js';
import { killWhileDividing } from './kill-while-dividing.js';
import { killWhileSplitting } from './kill-while-splitting.js';

test(`splits go on, however often the server is killed (seed ${seed})`, (t) =>
  killWhileSplitting(t, seed, 8));

test(`divisions go on, in whatever state the server is killed (seed ${seed})`, (t) =>
  killWhileDividing(t, seed, ['build_indices', 'update_shardmap', 'wait_source_close', 'source_delete']));
