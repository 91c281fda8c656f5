import { boundedText } from './bounded.js';

const sampleBytesMax = 2_000_000;

/** Some documents of a database, without design documents: to complete names of fields, and to try functions on. */
export async function sampleDocuments(
  db: string,
  limit: number,
  signal: AbortSignal,
): Promise<Record<string, unknown>[]> {
  const query = { include_docs: true, limit, startkey: '"_design0"' };
  const before = { include_docs: true, limit, endkey: '"_design"' };
  const texts = await Promise.all(
    [before, query].map((each) =>
      boundedText('GET', [db, '_all_docs'], { query: each, signal }, sampleBytesMax),
    ),
  );
  return texts
    .flatMap((text) =>
      text === undefined ? [] : (JSON.parse(text) as { rows: { doc: Record<string, unknown> }[] }).rows,
    )
    .map(({ doc }) => doc)
    .slice(0, limit);
}

const depthMax = 3;

/** Names of fields, with dots for those below others. */
export function fieldNames(docs: readonly Record<string, unknown>[]): string[] {
  const names = new Set<string>();
  const visit = (value: Record<string, unknown>, prefix: string, depth: number): void => {
    for (const [name, each] of Object.entries(value)) {
      const path = prefix + name.replaceAll('.', '\\.');
      names.add(path);
      const isObject = typeof each === 'object' && each !== null && !Array.isArray(each);
      if (isObject && depth < depthMax) visit(each as Record<string, unknown>, `${path}.`, depth + 1);
    }
  };
  for (const doc of docs) visit(doc, '', 1);
  return [...names];
}
