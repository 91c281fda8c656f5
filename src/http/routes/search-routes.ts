import { fromBytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import { designPrefix } from '../../shard/doc-id.js';
import { checkVisible } from '../../node/read-gate.js';
import { designOf } from '../../design/design-docs.js';
import type { DatabaseHandler, DatabaseRoute } from './route.js';

const noSearch: DatabaseHandler = ({ parts, services, user }, database) => {
  const ddoc = parts[parts.indexOf('_design') + 1]!;
  checkVisible(services.registry.showFor(database, user), designPrefix + ddoc);
  designOf(database, fromBytes(ddoc));
  throw new RequestError('service_unavailable', 'Search is not available: this version has no text search.');
};

/** Text search, which is not there: without these its paths would be those of attachments. */
export const searchRoutes: readonly DatabaseRoute[] = [
  ...['_search', '_nouveau'].flatMap((name): DatabaseRoute[] => [
    {
      path: `/{db}/_design/{ddoc}/${name}/{index}`,
      allow: 'GET,HEAD,POST',
      access: 'member',
      methods: { GET: noSearch, POST: noSearch },
    },
    {
      path: `/{db}/_partition/{partition}/_design/{ddoc}/${name}/{index}`,
      allow: 'GET,HEAD,POST',
      access: 'member',
      methods: { GET: noSearch, POST: noSearch },
    },
  ]),
  ...['_search_info', '_search_disk_size', '_nouveau_info'].map((name): DatabaseRoute => ({
    path: `/{db}/_design/{ddoc}/${name}/{index}`,
    allow: 'GET,HEAD',
    access: 'member',
    methods: { GET: noSearch },
  })),
];
