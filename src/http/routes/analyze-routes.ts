import { asBytes, toBytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import { makeAnalyzer, nouveauAnalyzer, readAnalyzer } from '../../search/analysis/analyzer.js';
import type { Exchange } from '../exchange.js';
import type { ServerRoute } from './route.js';

/** As for searches. */
const bodyBytesMax = 1024 * 1024;

/** Shows what analyzers make of texts. */
export const analyzeRoutes: readonly ServerRoute[] = [
  {
    path: '/_search_analyze',
    allow: 'GET,HEAD,POST',
    access: 'server_admin',
    methods: {
      GET: (exchange) => analyze(exchange, exchange.query.get('analyzer'), exchange.query.get('text')),
      POST: async (exchange) => {
        const { analyzer, text } = await exchange.jsonObject({ bytesMax: bodyBytesMax });
        await analyze(exchange, analyzer, text);
      },
    },
  },
  {
    path: '/_nouveau_analyze',
    allow: 'POST',
    access: 'server_admin',
    methods: {
      POST: async (exchange) => {
        const { analyzer, text } = await exchange.jsonObject({ bytesMax: bodyBytesMax });
        if (typeof analyzer !== 'string' || typeof text !== 'string' || analyzer === '')
          throw badRequest("'text' and 'analyzer' fields must be non-empty strings");
        await analyze(exchange, nouveauAnalyzer(analyzer), text);
      },
    },
  },
];

async function analyze(exchange: Exchange, given: unknown, text: unknown): Promise<void> {
  if (given === undefined) throw badRequest('analyzer parameter is mandatory');
  const definition = readAnalyzer(given);
  if (definition === undefined) throw badRequest('analyzer parameter must be a string or an object');
  if (text === undefined) throw badRequest('text parameter is mandatory');
  if (typeof text !== 'string') throw badRequest('text parameter must be a string');
  const analyzer = await makeAnalyzer(definition);
  const tokens: string[] = [];
  const slice = exchange.runtime.slice();
  for (const { term } of analyzer.tokens('default', text)) {
    if (term !== '') tokens.push(JSON.stringify(term));
    if (!slice.isOver) continue;
    await slice.next();
    if (exchange.response.destroyed) return;
  }
  exchange.text(200, asBytes(`{"tokens":[${toBytes(tokens.join(','))}]}`));
}
