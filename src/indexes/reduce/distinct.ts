import { hash } from 'node:crypto';
import { asBytes, readU16, toBytes, u16, u8, type Bytes } from '../../base/bytes.js';
import type { Fold } from './fold.js';
import { hashedForm } from './hashed-key.js';

/**
 * `_approx_count_distinct`: how many different keys there are, by HyperLogLog: 2,048 registers, which makes an error of
 * about two per cent. Below `sparseMax` registers in use they are kept as pairs of place and value.
 */
const precision = 11;
const registers = 1 << precision;
const sparseMax = 400;

type State = Uint8Array;

const sparseMark = 's';
const denseMark = 'd';

export const distinctFold: Fold<State> = {
  // At first the text of keys was hashed.
  form: 2,
  rows(rows) {
    const state = new Uint8Array(registers);
    for (const { keyText } of rows) note(state, keyText);
    return state;
  },
  merge(states) {
    const merged = new Uint8Array(registers);
    for (const state of states) {
      for (let i = 0; i < registers; i++) if (state[i]! > merged[i]!) merged[i] = state[i]!;
    }
    return merged;
  },
  encode(state) {
    let pairs = '';
    let used = 0;
    for (let i = 0; i < registers && used <= sparseMax; i++) {
      if (state[i] === 0) continue;
      pairs += u16(i) + u8(state[i]!);
      used++;
    }
    return used <= sparseMax
      ? asBytes(sparseMark + pairs)
      : asBytes(denseMark + Buffer.from(state).toString('latin1'));
  },
  decode(bytes) {
    if (bytes[0] === denseMark) return new Uint8Array(Buffer.from(bytes.slice(1), 'latin1'));
    const state = new Uint8Array(registers);
    for (let at = 1; at < bytes.length; at += 3) state[readU16(bytes, at)] = bytes.charCodeAt(at + 2);
    return state;
  },
  show: (state) => toBytes(String(Math.round(estimate(state)))),
};

/** The first bits of a key's hash choose a register, which keeps the longest run of zeros seen in the rest of 64 bits. */
function note(state: State, keyText: Bytes): void {
  const digest = hash('sha1', Buffer.from(hashedForm(keyText), 'latin1'), 'buffer');
  const first = digest.readUInt32BE(0);
  const rest = digest.readUInt32BE(4);
  const place = first >>> (32 - precision);
  const high = (first << precision) >>> 0;
  const zeros = high === 0 ? 32 - precision + Math.clz32(rest) : Math.clz32(high);
  if (zeros + 1 > state[place]!) state[place] = zeros + 1;
}

function estimate(state: State): number {
  let sum = 0;
  let empty = 0;
  for (const value of state) {
    sum += 2 ** -value;
    if (value === 0) empty++;
  }
  const raw = ((0.7213 / (1 + 1.079 / registers)) * registers * registers) / sum;
  // Where few registers are in use, counting the empty ones is the better estimate.
  return raw <= 2.5 * registers && empty > 0 ? registers * Math.log(registers / empty) : raw;
}
