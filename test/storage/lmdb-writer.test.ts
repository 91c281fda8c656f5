import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { LmdbWriter, type WriterHost } from '../../src/storage/lmdb-writer.js';
import type { Write } from '../../src/storage/store.js';

/** An environment that is given up with its first commit, which is on the disk nevertheless, or not. */
class BrokenHost implements WriterHost {
  readonly stored = new Map<Bytes, Bytes | undefined>();
  #broken = false;
  #commits = 0;

  constructor(private readonly isStored: boolean) {}

  commit(writes: readonly Write[]): Promise<void> {
    const isFirst = this.#commits++ === 0;
    if (!isFirst || this.isStored) for (const { key, value } of writes) this.stored.set(key, value);
    if (!isFirst) return Promise.resolve();
    this.#broken = true;
    return Promise.reject(new Error('the head page could not be written'));
  }

  isBroken(): boolean {
    return this.#broken;
  }

  reopen(): Promise<void> {
    this.#broken = false;
    return Promise.resolve();
  }

  reopened(): Promise<void> {
    return Promise.resolve();
  }

  get(key: Bytes): Bytes | undefined {
    if (key === 'damaged') throw new Error('its checksum is wrong');
    return this.stored.get(key);
  }
}

for (const isStored of [true, false]) {
  test(`a commit in doubt that has met a damaged record is known to be ${isStored ? 'there' : 'lost'}`, async () => {
    const host = new BrokenHost(isStored);
    const writer = new LmdbWriter(host, new SystemRuntime());
    const written = writer.write([
      { key: asBytes('damaged'), value: asBytes('1') },
      { key: asBytes('sound'), value: asBytes('2') },
    ]);
    if (isStored) await written;
    else await assert.rejects(written, /could not be written/);
    await writer.write([{ key: asBytes('next'), value: asBytes('3') }]);
    assert.equal(host.stored.get(asBytes('next')), '3');
    await writer.close();
  });
}
