import { StartupError } from '../../base/startup-error.js';
import type { Progress } from '../progress.js';
import { securityId } from './export.js';
import { putLocalDoc } from './local-docs.js';
import { putSecurity } from './put-security.js';
import { pathOf, type Doc, type RemoteServer } from './remote-server.js';

export interface ImportResult {
  documents: number;
  /** Documents that the server refused, with its reasons; the first ones. */
  refused: { id: string; reason: string }[];
  refusedCount: number;
}

interface BulkRow {
  id?: string;
  error?: string;
  reason?: string;
}

/** One request carries so many documents at most, and about so many characters. */
const batchDocs = 500;
const batchChars = 4_000_000;
const refusedShown = 20;

/**
 * Writes lines of JSON to a database, which is made if need be. A line with a `_rev` is a revision of another database and
 * keeps it; a line without is a new document.
 */
export class Importer {
  readonly result: ImportResult = { documents: 0, refused: [], refusedCount: 0 };
  #batch: Doc[] = [];
  #chars = 0;
  #isReplicated = false;
  #line = 0;

  constructor(
    private readonly server: RemoteServer,
    private readonly db: string,
    private readonly progress: Progress,
  ) {}

  async run(lines: AsyncIterable<string>): Promise<ImportResult> {
    await this.server.put(pathOf(this.db), undefined, [412]);
    this.progress.begin(this.db, 0);
    for await (const line of lines) {
      this.#line++;
      if (line.trim() !== '') await this.#take(this.#parse(line), line.length);
    }
    await this.#flush();
    return this.result;
  }

  #parse(line: string): Doc {
    let doc: unknown;
    try {
      doc = JSON.parse(line);
    } catch {
      throw new StartupError(`Line ${this.#line} is no JSON. The lines before it are imported.`);
    }
    if (typeof doc !== 'object' || doc === null || Array.isArray(doc))
      throw new StartupError(`Line ${this.#line} is no JSON object. The lines before it are imported.`);
    return doc as Doc;
  }

  async #take(doc: Doc, chars: number): Promise<void> {
    if (doc._id === securityId) {
      const { _id, ...security } = doc;
      void _id;
      for (const reason of await putSecurity(this.server, this.db, security)) {
        this.result.refused.push({ id: securityId, reason });
        this.result.refusedCount++;
      }
    } else if (typeof doc._id === 'string' && doc._id.startsWith('_local/')) {
      await putLocalDoc(this.server, this.db, doc);
      this.result.documents++;
    } else {
      const isReplicated = '_rev' in doc;
      if (isReplicated !== this.#isReplicated || this.#batch.length === batchDocs || this.#chars > batchChars)
        await this.#flush();
      this.#isReplicated = isReplicated;
      this.#batch.push(doc);
      this.#chars += chars;
    }
  }

  async #flush(): Promise<void> {
    const docs = this.#batch;
    this.#batch = [];
    this.#chars = 0;
    if (docs.length === 0) return;
    const rows = await this.server.post<BulkRow[]>(`${pathOf(this.db)}/_bulk_docs`, {
      docs,
      ...(this.#isReplicated ? { new_edits: false } : {}),
    });
    const refused = rows.filter(({ error }) => error !== undefined);
    for (const { id = '', error, reason } of refused.slice(0, refusedShown - this.result.refused.length))
      this.result.refused.push({ id, reason: reason ?? error! });
    this.result.refusedCount += refused.length;
    this.result.documents += docs.length - refused.length;
    this.progress.advance(docs.length);
  }
}
