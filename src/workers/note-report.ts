import type { Services } from '../http/services.js';
import { reportedMethods, reportedRoutes, type Report } from './messages.js';

/** Adds what a worker has answered to the figures and the log of the server. */
export function noteReport(
  { metrics, logger }: Pick<Services, 'metrics' | 'logger'>,
  { figures, lines, documentReads, queries, queryTimeouts }: Report,
): void {
  for (let i = 0; i < figures.length; i += 5) {
    const method = reportedMethods[figures[i + 1]!] ?? '';
    const route = reportedRoutes[figures[i]!];
    metrics.request(method, figures[i + 2]!, figures[i + 3]!, route, figures[i + 4] === 1);
  }
  metrics.documentReads += documentReads;
  for (const outcome of queries) metrics.queries.done(outcome);
  metrics.queries.timeouts += queryTimeouts;
  for (const line of lines) logger.request(line);
}
