import { asBytes, toBytes } from '../base/bytes.js';
import { notFound } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { nouveauOf, searchesOf } from '../design/design-docs.js';
import { unknownLanguage } from '../design/design-functions.js';
import { analyzerOf, type DesignViews, type ViewDefinition } from '../indexes/definition.js';
import type { ViewReader } from '../indexes/view-reader.js';
import type { OnUpdate } from '../indexes/update-tasks.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { checkVisible, type Show } from '../node/read-gate.js';
import type { SearchApi } from '../script/script-host.js';
import type { AnalyzerDefinition } from '../search/analysis/analyzer.js';
import { designPrefix } from '../shard/doc-id.js';
import { heldReaders } from './held-readers.js';

/** A search index that is asked for. */
export interface NamedSearch {
  database: Database;
  /** The design document's name. */
  ddoc: string;
  design: DesignViews;
  index: ViewDefinition;
}

/** What a search reads from. */
export interface SearchSource {
  database: Database;
  analyzer: AnalyzerDefinition;
  /** The indexes of the database's groups as they are at the moment; undefined where there is none yet. Throws where one is gone. */
  readers: () => readonly (ViewReader | undefined)[];
  /** What the one who asks may see of documents; undefined where nothing is hidden. */
  show: Show | undefined;
}

export function namedSearch(
  database: Database,
  ddoc: string,
  name: string,
  api: SearchApi = 'search',
): NamedSearch {
  const design = api === 'search' ? searchesOf(database, ddoc) : nouveauOf(database, ddoc);
  const index = design.views.get(name);
  if (index === undefined) throw notFound(`${name} not found.`);
  return { database, ddoc, design, index };
}

/** Brings the index up to date, unless the request accepts a stale one. Throws if the user may not see the design document. */
export async function searchSource(
  registry: DatabaseRegistry,
  named: NamedSearch,
  isStale: boolean,
  user: UserContext,
): Promise<SearchSource> {
  const { database, ddoc, design, index } = named;
  const show = registry.showFor(database, user);
  checkVisible(show, asBytes(designPrefix + toBytes(ddoc)));
  if (index.map.kind !== 'text' && design.language !== 'javascript') throw unknownLanguage(design.language);
  const indexed = registry.indexed(database);
  const { groups } = database;
  try {
    if (!isStale) await indexed.freshReader(design, index, searchTask(registry, named));
  } catch (error) {
    // The groups that were waited for may have been divided meanwhile.
    if (database.groups === groups) throw error;
    return await searchSource(registry, named, isStale, user);
  }
  return {
    database,
    analyzer: analyzerOf(index.map),
    readers: heldReaders(() => indexed.readers(index), !isStale),
    show,
  };
}

/** Shows the filling of search indexes among the active tasks. */
export function searchTask(
  registry: DatabaseRegistry,
  { database, ddoc, design }: Pick<NamedSearch, 'database' | 'ddoc' | 'design'>,
): OnUpdate {
  return (total) =>
    registry.tasks.begin('search_indexer', database.name, registry.nodeName, total, {
      design_document: `_design/${ddoc}`,
      index: [...design.views.keys()].join(),
    });
}
