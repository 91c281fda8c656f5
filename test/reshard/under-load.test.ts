import assert from 'node:assert/strict';
import { it } from 'node:test';
import { seed } from '../model/random.js';
import { reshardUnderLoad } from './load.js';
import { divideAll, ranges, splitAll } from './reshard.js';

it(`nothing is lost, doubled or missed while shards are split (seed ${seed})`, () =>
  reshardUnderLoad({
    seed,
    q: 1,
    writers: 4,
    reshard: async (client, db) => {
      for (let round = 0; round < 3; round++) await splitAll(client, db);
      assert.equal((await ranges(client, db)).length, 8);
    },
  }));

it(`nothing is lost, doubled or missed while groups are divided (seed ${seed})`, () =>
  reshardUnderLoad({
    seed,
    q: 3,
    writers: 4,
    reshard: async (client, db) => {
      const [job] = await divideAll(client, db);
      assert.equal(job!.target.length, 2);
    },
  }));
