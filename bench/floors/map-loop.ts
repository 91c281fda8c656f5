import { makeDocuments } from '../documents.js';
import { benchViews } from '../views.js';
import { settings } from './child.js';
import { answerByMapping } from './map-texts.js';

/** Floor 7: the map functions run over all documents in the sandbox, on as many threads, and the rows thrown away. */
const { docs } = settings<{ docs: number }>();
const texts = makeDocuments(docs).map(
  ({ id, body }) => `{"_id":"${id}","_rev":"1-${'0'.repeat(32)}",${body.slice(1)}`,
);
answerByMapping(texts, (run) => ({
  id: `program ${run}`,
  lib: undefined,
  maps: Object.values(benchViews(String(run))).map(({ map }) => map),
}));
