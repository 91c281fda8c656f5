import type { Runtime } from '../base/runtime.js';
import type { Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { isDeeperThan } from '../json/depth.js';
import { jsonDepthMax } from '../json/walker.js';
import type { MapPart } from './messages.js';
import { splitArray } from './project.js';

export interface EmittedRow {
  /** JSON text. */
  key: Bytes;
  /** JSON text. */
  value: Bytes;
}

/** What each map function emitted for one document, in the order of emission. */
export type EmittedDoc = readonly (readonly EmittedRow[])[];

const noRows: readonly EmittedRow[] = [];

/**
 * The rows of all documents, out of the texts in which they come from the sandbox (`inside/map.ts`). Rows are compared and
 * parsed by code that recurses, so they nest no deeper than documents may: a function that emits others has none for that
 * document, which `tooDeep` is told of.
 */
export async function readMapParts(
  parts: readonly MapPart[],
  docs: number,
  maps: number,
  tooDeep: (doc: number) => void,
  runtime: Runtime,
): Promise<EmittedDoc[]> {
  const slice = runtime.slice();
  const rows = Array.from({ length: docs }, () => new Array<readonly EmittedRow[]>(maps).fill(noRows));
  /** How many documents each function has been through. */
  const done = new Array<number>(maps).fill(0);
  for (const { which, docs: count, text } of parts) {
    const lines = text.split('\n');
    let line = 0;
    for (const map of which) {
      const counts = lines[line++]!.split(',').slice(0, -1).map(Number);
      const elements: Bytes[] = [];
      for (; lines[line] !== '' && line < lines.length; line++) {
        const more = splitArray(lines[line]!);
        for (let i = 0; i < more.length; i++) elements.push(more[i]!);
        if (slice.isOver) await slice.next();
      }
      line++;
      if (counts.length !== count || counts.reduce((sum, each) => sum + each, 0) * 2 !== elements.length)
        throw new RequestError('os_process_error', 'The rows of a map function cannot be read.');
      let at = 0;
      for (let i = 0; i < count; i++) {
        if (counts[i] === 0) continue;
        const emitted: EmittedRow[] = [];
        for (let row = 0; row < counts[i]!; row++, at += 2)
          emitted.push({ key: elements[at]!, value: elements[at + 1]! });
        if (emitted.some(isTooDeep)) tooDeep(done[map]! + i);
        else rows[done[map]! + i]![map] = emitted;
        if (slice.isOver) await slice.next();
      }
      done[map]! += count;
    }
  }
  return rows;
}

const isTooDeep = ({ key, value }: EmittedRow): boolean =>
  isDeeperThan(key, jsonDepthMax) || isDeeperThan(value, jsonDepthMax);
