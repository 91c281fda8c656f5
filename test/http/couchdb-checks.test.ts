import { answerAreas } from '../support/answer-areas.js';
import { startServer } from '../support/server.js';

/** What CouchDB 3.4.3 tells of a request that is wrong in several ways, and how it names what is wrong. */
const client = await startServer();
const area = answerAreas(client);

area(
  'A missing design document is told before the rest of the request',
  [],
  [
    { do: 'POST ~/_design/nope/_view/v', json: [], status: 404, has: { reason: 'missing' } },
    { do: 'POST ~/_design/nope/_view/v', headers: { 'content-type': 'text/plain' }, status: 404 },
    { do: 'POST ~/_design/nope/_view/v/queries', json: [], status: 404 },
    { do: 'GET ~/_design/nope/_list', status: 404, has: { reason: 'missing' } },
    { do: 'GET ~/_design/nope/_list/l', status: 404, has: { reason: 'missing' } },
    { do: 'GET ~/_design/nope/_show', status: 404, has: { reason: 'missing' } },
    { do: 'GET ~/_design/nope/_update', status: 404, has: { reason: 'missing' } },
  ],
);

area(
  'A malformed revision is told before the body is read, in batch mode too',
  [],
  [
    { do: 'PUT ~/a?rev=x', json: { _bad: 1 }, status: 400, has: { reason: 'Invalid rev format' } },
    { do: 'PUT ~/a?rev=x&batch=ok', json: { _bad: 1 }, status: 400, has: { reason: 'Invalid rev format' } },
  ],
);

area(
  'Keys beside a body',
  [{ _id: 'a' }],
  [
    { do: 'GET ~/_all_docs?keys="a"', status: 400, has: { error: 'bad_request' } },
    { do: 'POST ~/_all_docs?keys="a"', json: {}, status: 400, has: { error: 'query_parse_error' } },
    { do: 'POST ~/_all_docs?keys={}', json: {}, status: 400, has: { error: 'query_parse_error' } },
    { do: 'POST ~/_design_docs?keys="a"', json: {}, status: 400, has: { error: 'query_parse_error' } },
  ],
);

area(
  'Numbers of a new database',
  [],
  [
    {
      do: 'PUT ~x?q=0&n=0',
      status: 400,
      has: { reason: 'The `n` value should be a positive integer.' },
    },
  ],
);

const bookmark = 'no bookmark';

area(
  'A text that is no bookmark is told when everything else is right',
  [],
  [
    {
      do: 'POST ~/_find',
      json: { selector: {}, bookmark, limit: -1 },
      status: 400,
      has: { error: 'invalid_non_neg_integer' },
    },
    {
      do: 'POST ~/_find',
      json: { selector: { n: 1 }, bookmark, sort: ['n'] },
      status: 400,
      has: { error: 'no_usable_index' },
    },
    {
      do: 'POST ~/_find',
      json: { selector: { n: 1 }, bookmark, allow_fallback: false },
      status: 400,
      has: { error: 'invalid_index' },
    },
    { do: 'POST ~/_find', json: { selector: {}, bookmark }, status: 400, has: { error: 'invalid_bookmark' } },
    {
      do: 'POST ~/_find',
      json: { selector: {}, bookmark: 1, limit: -1 },
      status: 400,
      has: { error: 'invalid_bookmark' },
    },
  ],
);

const partial = (fields: string[], name: string): object => ({
  index: { fields, partial_filter_selector: { city: 'Rome' } },
  ddoc: 'partial',
  name,
});
const reason = 'index_candidates.0.analysis.reasons.0.name';

area(
  'A partial index is called partial, even where it was named',
  [],
  [
    { do: 'POST ~/_index', json: partial(['n'], 'n'), status: 200 },
    {
      do: 'POST ~/_explain',
      json: { selector: { x: 1 }, use_index: 'partial' },
      status: 200,
      has: { [reason]: 'is_partial', 'index_candidates.0.analysis.ranking': 3 },
    },
    {
      do: 'POST ~/_explain',
      json: { selector: { x: 1 } },
      status: 200,
      has: { [reason]: 'is_partial', 'index_candidates.0.analysis.ranking': 1 },
    },
    { do: 'POST ~/_index', json: partial(['n', 'm'], 'nm'), status: 200 },
    {
      do: 'POST ~/_explain',
      json: { selector: { n: 1, m: 1 }, use_index: 'partial' },
      status: 200,
      has: {
        'index.name': 'nm',
        [reason]: 'is_partial',
        'index_candidates.0.analysis.usable': false,
        'index_candidates.0.analysis.ranking': 4,
      },
    },
  ],
);

area(
  'A bulk edit of all or nothing is refused by naming the revisions that were sent',
  [],
  [
    {
      do: 'POST ~/_bulk_docs',
      json: {
        all_or_nothing: true,
        docs: [{ _id: 'a' }, { _id: 'b', _rev: '2-x' }, { _revisions: { start: 3, ids: ['c', 'b'] } }],
      },
      status: 417,
      has: { '0.rev': '0-', '1.rev': '2-x', '2.rev': '3-c', '2.error': 'not_implemented' },
    },
  ],
);
