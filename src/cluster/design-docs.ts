import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { notFound } from '../base/errors.js';
import { prefixEnd } from '../storage/store.js';
import { decodeWinner } from '../shard/doc-record.js';
import { docText } from '../shard/doc-text.js';
import { designViews, type DesignViews, type ViewDefinition } from '../views/definition.js';
import type { Database } from './database.js';
import { designPrefix } from './document-input.js';
import { openDoc } from './open-doc.js';

/** Design documents of a database whose views are remembered. */
const rememberedMax = 100;

/** The views of a design document as it is now; refuses where there is none. */
export function designOf(database: Database, name: string): DesignViews {
  const id = designPrefix + toBytes(name);
  const { rev, content } = openDoc(database, id, {});
  const { designs } = database;
  const key = `${id} ${rev.pos}-${rev.hash}`;
  const known = designs.get(key);
  if (known !== undefined) return known;
  const views = designViews(parse(docText(id, rev, content, '')), database.isPartitioned);
  if (designs.size >= rememberedMax) designs.delete(designs.keys().next().value!);
  designs.set(key, views);
  return views;
}

export function viewOf(design: DesignViews, name: string): ViewDefinition {
  const view = design.views.get(name);
  if (view === undefined) throw notFound('missing_named_view');
  return view;
}

/** The names of all design documents. */
export function designNames(database: Database): string[] {
  const { store, keys } = database.collection;
  const start = keys.livePrefix + designPrefix;
  return [...store.entries({ start, end: prefixEnd(start) })].map(({ key, value }) => {
    const id = decodeWinner(value).longId ?? key.slice(keys.livePrefix.length);
    return fromBytes(id.slice(designPrefix.length));
  });
}

const parse = (text: Bytes): Record<string, unknown> =>
  JSON.parse(fromBytes(text)) as Record<string, unknown>;
