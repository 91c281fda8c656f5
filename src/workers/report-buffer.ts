import type { RequestFacts } from '../base/logger.js';
import type { QueryOutcome } from '../query/find-docs.js';
import { reportedMethods, reportedRoutes, type Report } from './messages.js';

/** So many requests are reported without waiting. */
const requestsMax = 1_000;

const routeNumbers = new Map(reportedRoutes.map((route, number) => [route, number]));

/** The requests that a worker has answered, until it reports them: figures and log are those of the whole server. */
export class ReportBuffer {
  #report = emptyReport();
  #requests = 0;
  logsRequests = false;
  /** What handlers count. */
  readonly counts = {
    documentReads: 0,
    connections: 0,
    feeds: 0,
    queries: {
      timeouts: 0,
      done: (outcome: QueryOutcome | undefined): void => {
        if (outcome !== undefined) this.#report.queries.push(outcome);
      },
    },
  };

  constructor(private readonly onFull: () => void) {}

  note(facts: RequestFacts, route: { path: string } | undefined): void {
    const { method, status, ms, complete } = facts;
    const number = (route && routeNumbers.get(route)) ?? -1;
    this.#report.figures.push(number, reportedMethods.indexOf(method), status, ms, complete ? 1 : 0);
    if (this.logsRequests) this.#report.lines.push(facts);
    if (++this.#requests >= requestsMax) this.onFull();
  }

  take(): Report {
    const { counts } = this;
    const { documentReads, queries } = counts;
    const report = { ...this.#report, documentReads, queryTimeouts: queries.timeouts };
    counts.documentReads = queries.timeouts = 0;
    this.#report = emptyReport();
    this.#requests = 0;
    return report;
  }
}

const emptyReport = (): Pick<Report, 'figures' | 'lines' | 'queries'> => ({
  figures: [],
  lines: [],
  queries: [],
});
