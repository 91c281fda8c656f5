import { hash, randomBytes } from 'node:crypto';

/**
 * Who stands behind credentials that were verified before, so that only the first request of a client pays for the
 * slow hash. Credentials are kept as digests under a key of this process alone: a dump of the memory or the map gives
 * nobody's password away. The least recently used entry leaves first.
 */
export class CredentialCache<User> {
  private readonly processKey = randomBytes(32).toString('base64');
  private readonly users = new Map<string, User>();

  constructor(private readonly sizeMax: () => number) {}

  digest(credentials: string): string {
    return hash('sha256', this.processKey + credentials, 'base64');
  }

  get(digest: string): User | undefined {
    const user = this.users.get(digest);
    if (user === undefined) return undefined;
    this.users.delete(digest);
    this.users.set(digest, user);
    return user;
  }

  put(digest: string, user: User): void {
    this.users.delete(digest);
    this.users.set(digest, user);
    for (const oldest of this.users.keys()) {
      if (this.users.size <= this.sizeMax()) break;
      this.users.delete(oldest);
    }
  }

  clear(): void {
    this.users.clear();
  }
}
