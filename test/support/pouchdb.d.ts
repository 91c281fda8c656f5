/** As much of PouchDB as the tests use: its packages come without types. */
declare module 'pouchdb-core' {
  interface Row {
    id: string;
    key: string;
    error?: string;
    doc?: Record<string, unknown>;
  }

  interface Saved {
    ok?: boolean;
    id: string;
    rev: string;
    name?: string;
  }

  export default class PouchDB {
    static plugin(plugin: unknown): typeof PouchDB;
    constructor(name: string, options?: Record<string, unknown>);
    info(): Promise<{ doc_count: number; update_seq: string | number }>;
    put(doc: Record<string, unknown>): Promise<Saved>;
    post(doc: Record<string, unknown>): Promise<Saved>;
    get(id: string, options?: Record<string, unknown>): Promise<Record<string, unknown>>;
    bulkDocs(docs: Record<string, unknown>[], options?: Record<string, unknown>): Promise<Saved[]>;
    bulkGet(request: { docs: { id: string; rev?: string }[] }): Promise<{ results: unknown[] }>;
    allDocs(options?: Record<string, unknown>): Promise<{ total_rows: number; rows: Row[] }>;
    remove(id: string, rev: string): Promise<Saved>;
    destroy(): Promise<{ ok: boolean }>;
  }
}

declare module 'pouchdb-adapter-http' {
  const plugin: unknown;
  export default plugin;
}

declare module 'pouchdb-adapter-memory' {
  const plugin: unknown;
  export default plugin;
}

declare module 'pouchdb-replication' {
  const plugin: unknown;
  export default plugin;
}

declare module 'pouchdb-replication' {
  const plugin: unknown;
  export default plugin;
}
