import { notAnObject } from '../../base/errors.js';
import type { Runtime } from '../../base/runtime.js';
import { parseInSteps } from '../../json/parse-steps.js';
import { parseJson } from '../../json/scan.js';

export type JsonObject = Record<string, unknown>;

/** JSON of this size and more is checked and parsed in slices. */
const largeJsonBytes = 256 * 1024;

/** A body that must be a JSON object. */
export function parseObject(bytes: Buffer, runtime: Runtime): JsonObject | Promise<JsonObject> {
  return bytes.length < largeJsonBytes ? asObject(parseJson(bytes)) : parseLarge(bytes, runtime);
}

async function parseLarge(bytes: Buffer, runtime: Runtime): Promise<JsonObject> {
  return asObject(await runtime.slice().finish(parseInSteps(bytes)));
}

function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
  return value as JsonObject;
}
