import { hash, randomBytes } from 'node:crypto';

/**
 * Who stands behind credentials that were verified before, so that only the first request of a client pays for it.
 * Credentials are kept as digests under a key of this process alone: a dump of the memory or the map gives nobody's
 * password away. The least recently used entry leaves first.
 */
export class CredentialCache<Entry> {
  private readonly processKey = randomBytes(32).toString('base64');
  private readonly entries = new Map<string, Entry>();
  /** The one that was used last is found without touching the order. */
  private latest: string | undefined;

  constructor(private readonly sizeMax: () => number) {}

  digest(credentials: string): string {
    return hash('sha256', this.processKey + credentials, 'base64');
  }

  get(digest: string): Entry | undefined {
    const entry = this.entries.get(digest);
    if (entry === undefined || digest === this.latest) return entry;
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    this.latest = digest;
    return entry;
  }

  put(digest: string, entry: Entry): void {
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    this.latest = digest;
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.sizeMax()) break;
      this.entries.delete(oldest);
    }
  }

  delete(digest: string): void {
    this.entries.delete(digest);
  }

  clear(): void {
    this.entries.clear();
  }
}
