import { makeDocuments } from '../documents.js';
import type { Sample } from '../figures/figure.js';
import { answerEach, say, settings } from './child.js';

/** Floor 9: documents that lie in memory are parsed, and one field of each is picked. */
const { docs } = settings<{ docs: number }>();
const bodies = makeDocuments(docs).map(({ body }) => Buffer.from(body));
let sum = 0;

function pick(): Promise<Sample> {
  const started = performance.now();
  for (const body of bodies) sum += (JSON.parse(body.toString()) as { number: number }).number;
  if (!(sum > 0)) throw new Error('Nothing was picked.');
  return Promise.resolve({ units: bodies.length, seconds: (performance.now() - started) / 1000 });
}

answerEach(pick);
say('ready');
