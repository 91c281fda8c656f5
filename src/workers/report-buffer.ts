import type { RequestFacts } from '../base/logger.js';
import type { Report } from './messages.js';

/** So many requests are reported without waiting. */
const requestsMax = 1_000;

/** The requests that a worker has answered, until it reports them: figures and log are those of the whole server. */
export class ReportBuffer {
  #figures: number[] = [];
  #lines: RequestFacts[] = [];
  logsRequests = false;

  constructor(private readonly onFull: () => void) {}

  note(facts: RequestFacts): void {
    const { method, status, ms, complete } = facts;
    this.#figures.push(method === 'HEAD' ? 1 : 0, status, ms, complete ? 1 : 0);
    if (this.logsRequests) this.#lines.push(facts);
    if (this.#figures.length >= 4 * requestsMax) this.onFull();
  }

  take(): Report {
    const report = { figures: this.#figures, lines: this.#lines };
    this.#figures = [];
    this.#lines = [];
    return report;
  }
}
