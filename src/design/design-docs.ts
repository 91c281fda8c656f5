import { createHash } from 'node:crypto';
import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { notFound } from '../base/errors.js';
import { MemberPicker } from '../json/raw-fields.js';
import { designDocs } from '../shard/walk-docs.js';
import { docText } from '../shard/doc-text.js';
import {
  designViews,
  type DesignIndexes,
  type DesignViews,
  type ViewDefinition,
} from '../indexes/definition.js';
import { designNouveau, designSearches } from '../indexes/search-definition.js';
import type { Database } from '../node/database.js';
import { designPrefix } from '../shard/doc-id.js';
import { openDoc } from '../documents/open-doc.js';

/** Design documents of a database whose views are remembered. */
const rememberedMax = 100;

/** The views of a design document as it is now; refuses where there is none. */
export function designOf(database: Database, name: string): DesignViews {
  return indexesOf(database, name).views;
}

/** Its search indexes. */
export function searchesOf(database: Database, name: string): DesignViews {
  return indexesOf(database, name).searches;
}

/** Its search indexes by the names of CouchDB's newer interface. */
export function nouveauOf(database: Database, name: string): DesignViews {
  return indexesOf(database, name).nouveau;
}

function indexesOf(database: Database, name: string): DesignIndexes {
  const { designs } = database;
  const { designChanges } = database.collection;
  const known = designs.get(name);
  if (known?.changes === designChanges) return known;
  const id = asBytes(designPrefix + toBytes(name));
  const { rev, content } = openDoc(database, id, {});
  const text = docText(id, rev, content, noBytes);
  // Of the content: the same revision may come back with another body once it has been purged.
  const digest = createHash('sha256').update(text, 'latin1').digest('base64');
  // The same object as before: what others know of its views hangs on it.
  const indexes = known?.digest === digest ? known : readIndexes(parse(text), database.isPartitioned);
  if (known === undefined && designs.size >= rememberedMax) designs.delete(designs.keys().next().value!);
  designs.set(name, { ...indexes, changes: designChanges, digest });
  return indexes;
}

const readIndexes = (ddoc: Record<string, unknown>, inPartitions: boolean): DesignIndexes => ({
  views: designViews(ddoc, inPartitions),
  searches: designSearches(ddoc, inPartitions),
  nouveau: designNouveau(ddoc, inPartitions),
});

export function viewOf(design: DesignViews, name: string): ViewDefinition {
  const view = design.views.get(name);
  if (view === undefined) throw notFound('missing_named_view');
  return view;
}

/** The names of all design documents. */
export function designNames(database: Database): string[] {
  return Array.from(designDocs(database.collection), ({ id }) => fromBytes(id.slice(designPrefix.length)));
}

/** All that views depend on. */
const viewMembers = new MemberPicker(['language', 'options', 'views', 'indexes', 'nouveau', 'autoupdate']);

const parse = (text: Bytes): Record<string, unknown> =>
  JSON.parse(fromBytes(viewMembers.of(text))) as Record<string, unknown>;
