import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, noBytes, type Bytes } from '../../src/base/bytes.js';
import type { Rev } from '../../src/revisions/rev.js';
import type { PurgeCommand, ValidatorsCommand } from '../../src/shard/commands.js';
import { encodeContent } from '../../src/shard/content.js';
import { tables } from '../../src/shard/keys.js';
import { validatorsToken } from '../../src/shard/validators.js';
import { edit, edits, everyWay, instance, keys, type Open } from './group-scene.js';

const digest = asBytes('d'.repeat(32));
const other = asBytes('e'.repeat(32));
const token = validatorsToken(asBytes('t'.repeat(16)));

const setValidators = (value: Bytes, expected?: Bytes): ValidatorsCommand => ({
  type: 'validators',
  instance,
  shard: 0,
  value,
  expected,
});

everyWay('validation functions that commands were checked against', validationFunctions);
everyWay('changes of validation functions', changesOfFunctions);

function validationFunctions(open: Open): void {
  test('an edit that was checked against other functions is to be tried again', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const results = async (validators?: Bytes): Promise<unknown[]> =>
      (await log.append(edits([edit(`d${log.position}`)], { validators }))).result;
    assert.deepEqual(await results(digest), ['retry']);
    assert.equal(typeof (await results(noBytes))[0], 'object');
    assert.equal((await log.append(setValidators(digest))).result, true);
    assert.equal(log.validators, digest);
    assert.deepEqual(await results(noBytes), ['retry']);
    assert.deepEqual(await results(other), ['retry']);
    assert.equal(typeof (await results(digest))[0], 'object');
    assert.equal(typeof (await results())[0], 'object', 'not subject to validation');
    await volume.close();
  });
}

function changesOfFunctions(open: Open): void {
  test('what is known of the functions is replaced only where it is what was expected', async (t) => {
    const reopen = open(t);
    let volume = reopen();
    assert.equal((await volume.log(instance).append(setValidators(digest, other))).result, false);
    assert.equal((await volume.log(instance).append(setValidators(digest, noBytes))).result, true);
    assert.equal((await volume.log(instance).append(setValidators(other, token))).result, false);
    await volume.close();
    volume = reopen();
    assert.equal(volume.log(instance).validators, digest);
    await volume.close();
  });

  test('a design document with a function changes only while that is announced', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const save = async (body: string, parent?: Rev, validators?: Bytes): Promise<unknown> =>
      (await log.append(edits([edit('_design/d', parent, body)], { validators }))).result[0];
    const source = '{"validate\\u005fdoc_update":"function(){}"}';
    const plain = (await save('{"validate_doc_update":null}')) as Rev;
    assert.equal(plain.pos, 1, 'without a function there is nothing to announce');
    assert.equal(await save(source, plain), 'retry');
    assert.equal(await save(source, plain, noBytes), 'retry', 'what the group knows is no token');
    await log.append(setValidators(token));
    assert.equal(await save(source, plain, validatorsToken(asBytes('u'.repeat(16)))), 'retry');
    const strict = (await save(source, plain, token)) as Rev;
    assert.equal(strict.pos, 2);
    await log.append(setValidators(digest, token));
    assert.equal(await save('{}', strict, digest), 'retry', 'to take the function away is a change, too');
    assert.equal(await save('{}', plain, digest), undefined, 'a conflict is a conflict');
    const purges = [{ id: asBytes('_design/d'), revs: [strict] }];
    const purge: PurgeCommand = { type: 'purge', instance, shard: 0, uuid: 'u', purges };
    assert.deepEqual((await log.append(purge)).result, ['retry']);
    await log.append(setValidators(token));
    assert.deepEqual((await log.append({ ...purge, validators: token })).result, [[strict]]);
    await volume.close();
  });

  test('an edit that is to be tried again leaves no trace but its position', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    await log.append(setValidators(digest));
    const blob = 'ab'.repeat(32);
    const sizes = { length: 5, storedLength: 5, revpos: 1 };
    const body = encodeContent(
      [{ name: 'a', type: 't', md5: 'm', gzip: false, blob, ...sizes }],
      asBytes('{}'),
    );
    const small_blobs = new Map([[blob, asBytes('bytes')]]);
    const list = [edit('a', undefined, body), edit('b'), edit('a')];
    const { result } = await log.append(edits(list, { validators: other, small_blobs }));
    assert.deepEqual(result, ['retry', 'retry', 'retry']);
    const found = new Set([...volume.store.keys(keys.range)].map((key) => key.charCodeAt(5)));
    assert.deepEqual(found, new Set([tables.state]));
    await volume.close();
  });
}
