import { makeTexts } from '../texts.js';
import { settings } from './child.js';
import { answerByMapping } from './map-texts.js';

/** Floor 10: the function of a search index run over all texts in the sandbox, on as many threads, and its calls thrown away. */
const { docs } = settings<{ docs: number }>();
const texts = makeTexts(docs).map(
  (text, i) => `{"_id":"${i}","_rev":"1-${'0'.repeat(32)}","text":"${text}"}`,
);
answerByMapping(texts, (run) => ({
  id: `program ${run}`,
  lib: undefined,
  maps: [`function (doc) { index('default', doc.text); } // ${run}`],
  searchApi: 'search',
}));
