import type { Bytes } from '../base/bytes.js';
import { nextTurn } from '../base/turns.js';
import type { RowSource } from '../script/script-host.js';
import type { ViewRequest } from '../indexes/view-request.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { ViewAnswer, type ViewSource } from './query-view.js';

/** The answer to a view query as a list function takes it: what stands before the rows, and the rows in batches. */
export function listRows(
  registry: DatabaseRegistry,
  source: ViewSource,
  request: ViewRequest,
): { head: Bytes; rows: RowSource } {
  const answer = new ViewAnswer(source, request);
  const head = answer.opening().replace(/,?"rows":\[$/, '}');
  const pieces = wholeRows(answer.pieces(registry), request.includeDocs && request.attachments);
  return {
    head,
    rows: {
      next: async () => {
        const { value, done } = await pieces.next();
        return done ? undefined : `[${value.replace(/^,?\n/, '')}]`;
      },
    },
  };
}

/** Where documents come with the bytes of attachments, a row takes several pieces, the last of which is a brace. */
async function* wholeRows(
  pieces: Iterable<Bytes> | AsyncIterable<Bytes>,
  inParts: boolean,
): AsyncGenerator<Bytes, undefined> {
  let row = '';
  for await (const piece of pieces) {
    if (piece === '') {
      await nextTurn();
      continue;
    }
    row += piece;
    if (inParts && piece !== '}') continue;
    yield row;
    row = '';
  }
}
