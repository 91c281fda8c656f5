import type { Runtime } from '../base/runtime.js';
import type { Config } from '../config/config.js';

/**
 * Makes ids by the configured algorithm. `sequential` ids begin with 26 random digits and count up in the last six by
 * random steps, so that documents saved together stand together; the beginning changes when the count runs out.
 */
export class Uuids {
  #prefix = '';
  #count = 0;
  #lastMicros = 0;
  #pool: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(
    private readonly config: Config,
    private readonly runtime: Runtime,
  ) {}

  next(): string {
    switch (this.config.choice('uuids/algorithm')) {
      case 'random':
        return this.#randomHex(32);
      case 'utc_random':
        return this.#utc() + this.#randomHex(18);
      case 'utc_id':
        return this.#utc() + this.config.text('uuids/utc_id_suffix');
      case 'sequential':
        return this.#sequential();
      case 'uuid_v7':
        return this.#written(this.#timestamped());
      case 'uuid_v4':
        return this.#written(marked(this.runtime.randomBytes(16), 4));
    }
  }

  #written(bytes: Buffer): string {
    const hex = bytes.toString('hex');
    switch (this.config.choice('uuids/format')) {
      case 'base_16':
        return hex;
      case 'base_36':
        return BigInt(`0x${hex}`).toString(36).padStart(25, '0');
      case 'rfc9562':
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    }
  }

  #sequential(): string {
    this.#count += 1 + (this.#randomByte() << 3) + (this.#randomByte() & 7);
    if (this.#prefix === '' || this.#count >= 0xff_ff00) {
      this.#prefix = this.#randomHex(26);
      this.#count = 1 + this.#randomByte();
    }
    return this.#prefix + this.#count.toString(16).padStart(6, '0');
  }

  /** Version 7 begins with the time in milliseconds, so that ids sort by it. */
  #timestamped(): Buffer {
    const bytes = this.runtime.randomBytes(16);
    bytes.writeUIntBE(Math.floor(this.runtime.now()), 0, 6);
    return marked(bytes, 7);
  }

  /** Microseconds since 1970 in 14 digits, never the same twice. */
  #utc(): string {
    const now = Math.floor(this.runtime.now() * 1000);
    this.#lastMicros = Math.max(now, this.#lastMicros + 1);
    return this.#lastMicros.toString(16).padStart(14, '0');
  }

  /** Random bytes are costly to ask for one by one: a pool of them is used up first. */
  #randomByte(): number {
    if (this.#at >= this.#pool.length) {
      this.#pool = this.runtime.randomBytes(4_096);
      this.#at = 0;
    }
    return this.#pool[this.#at++]!;
  }

  #randomHex(digits: number): string {
    return this.runtime.randomHex(digits / 2);
  }
}

/** Puts the version and the variant of RFC 9562 into random bytes. */
function marked(bytes: Buffer, version: number): Buffer {
  bytes[6] = (version << 4) | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes;
}
