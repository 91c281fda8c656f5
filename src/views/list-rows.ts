import type { Runtime } from '../base/runtime.js';
import { asBytes, type Bytes } from '../base/bytes.js';
import type { RowSource } from '../script/script-host.js';
import type { ViewRequest } from '../indexes/view-request.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { ViewAnswer, type ViewSource } from './query-view.js';

/** Rows as a list function takes them: the members before the rows, and the rows in batches. */
export interface RowsForList {
  head: Bytes;
  rows: RowSource;
}

export function listRows(registry: DatabaseRegistry, source: ViewSource, request: ViewRequest): RowsForList {
  const answer = new ViewAnswer(source, request);
  const inParts = request.includeDocs && request.attachments;
  return rowsForList(answer.opening(), answer.pieces(registry), inParts, registry.runtime);
}

/** The same for any answer whose text ends with rows; `inParts` if one row may take several pieces. */
export function rowsForList(
  opening: Bytes,
  pieces: Iterable<Bytes> | AsyncIterable<Bytes>,
  inParts: boolean,
  runtime: Runtime,
): RowsForList {
  const batches = wholeRows(pieces, inParts, runtime);
  return {
    head: asBytes(opening.replace(/,?"rows":\[$/, '}')),
    rows: {
      next: async () => {
        const { value, done } = await batches.next();
        return done ? undefined : asBytes(`[${value.replace(/^,?\n/, '')}]`);
      },
    },
  };
}

/** Where documents come with the bytes of attachments, a row takes several pieces, the last of which is a brace. */
async function* wholeRows(
  pieces: Iterable<Bytes> | AsyncIterable<Bytes>,
  inParts: boolean,
  runtime: Runtime,
): AsyncGenerator<Bytes, undefined> {
  let row = '';
  for await (const piece of pieces) {
    if (piece === '') {
      await runtime.nextTurn();
      continue;
    }
    row += piece;
    if (inParts && piece !== '}') continue;
    yield asBytes(row);
    row = '';
  }
  if (row !== '') yield asBytes(row);
}
