import { RequestError, refusalData } from '../base/errors.js';
import { exceededDocsMax } from '../script/messages.js';
import type { ViewDefinition } from './definition.js';
import type { FailedView } from './index-job.js';

type Failure = Omit<FailedView, 'signature'>;

/** A view's function has exceeded its limits so often that its index is not filled any more. */
export class ExceededLimits extends Error {
  constructor(
    readonly view: ViewDefinition,
    readonly failure: Failure,
  ) {
    super(failure.refusal.error);
  }
}

/**
 * How often the map functions of views have exceeded their limits. Each time costs seconds: a document for which a function
 * needs too much memory is skipped, one that takes too long fails the query that waits for it. After the third time the
 * index is stopped.
 */
export class MapLimits {
  /** By database and view: documents that needed too much memory, and a mark for each time that a function took too long. */
  readonly #marks = new Map<string, Set<string>>();

  /** Counts a document that was skipped; throws where it is one too many. */
  exceeded(key: string, view: ViewDefinition, docId: string): void {
    if (this.#count(key, docId) < exceededDocsMax) return;
    throw new ExceededLimits(view, stopped(`It needed too much memory for the document ${docId}.`));
  }

  /** Counts an update that had to be given up. */
  failed(key: string, refusal: RequestError): Failure {
    const count = this.#count(key, `\0${this.#marks.get(key)?.size ?? 0}`);
    if (count >= exceededDocsMax) return stopped(refusal.reason);
    return { refusal: refusalData(refusal), isStopped: false };
  }

  forget(): void {
    this.#marks.clear();
  }

  #count(key: string, mark: string): number {
    const marks = this.#marks.get(key) ?? new Set();
    this.#marks.set(key, marks.add(mark));
    return marks.size;
  }
}

function stopped(last: string): Failure {
  const reason =
    `The map function has exceeded its limits ${exceededDocsMax} times, so the index is stopped until the design document ` +
    `changes. The last time: ${last}`;
  return { refusal: refusalData(new RequestError('os_process_error', reason)), isStopped: true };
}
