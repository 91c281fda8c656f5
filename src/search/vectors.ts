import type { Bytes } from '../base/bytes.js';

/** Vectors are stored as floats of four bytes, little-endian, one after the other. */
const floatBytes = 4;

export const dimensionsMax = 4_096;

/** Numbers that floats of four bytes can hold. */
export const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= dimensionsMax &&
  value.every((each) => typeof each === 'number' && Number.isFinite(Math.fround(each)));

export const encodeVector = (vector: readonly number[]): Bytes =>
  Buffer.from(Float32Array.from(vector).buffer).toString('latin1');

export const vectorBytes = (dimensions: number): number => dimensions * floatBytes;

export const similarities = ['cosine', 'dot', 'euclidean'] as const;
export type Similarity = (typeof similarities)[number];

/** Compares one vector with stored ones: the larger, the more alike. */
export class VectorProbe {
  readonly #probe: Float32Array;
  readonly #stored: Float32Array;
  readonly #bytes: Buffer;
  readonly #length: number;

  constructor(
    vector: readonly number[],
    private readonly similarity: Similarity,
  ) {
    this.#probe = Float32Array.from(vector);
    this.#stored = new Float32Array(vector.length);
    this.#bytes = Buffer.from(this.#stored.buffer);
    this.#length = Math.sqrt(dot(this.#probe, this.#probe));
  }

  /** Cosine and dot product as they are; of the Euclidean distance d, 1 / (1 + d). */
  score(stored: Bytes): number {
    this.#bytes.write(stored, 'latin1');
    if (this.similarity === 'euclidean') return 1 / (1 + distance(this.#probe, this.#stored));
    const product = dot(this.#probe, this.#stored);
    if (this.similarity === 'dot') return product;
    const lengths = this.#length * Math.sqrt(dot(this.#stored, this.#stored));
    return lengths === 0 ? 0 : product / lengths;
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function distance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2;
  return Math.sqrt(sum);
}
