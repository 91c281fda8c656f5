/** Who is told of changes, after they are on disk. */
export interface Watcher {
  /** Documents of a database, by its instance number, have changed. */
  committed(instance: number): void;
  /** A database was made or removed, or its settings have changed. */
  catalogued(name: string): void;
  closing?(): void;
}
