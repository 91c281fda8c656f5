import fs from 'node:fs';

/** Numbers in the file: the first stands for the whole server, each of the others for the databases that share it. */
const numbers = 64;

/** What a permit depends on, as it was when the permit was granted. */
export interface Epoch {
  server: number;
  database: number;
}

/** Which number stands for a database. */
function placeOf(database: string): number {
  let hash = 0;
  for (let i = 0; i < database.length; i++) hash = (hash * 31 + database.charCodeAt(i)) | 0;
  return 1 + ((hash >>> 0) % (numbers - 1));
}

/**
 * Numbers that the owner of the data folder raises whenever something changes that permits depend on, before the change is
 * acknowledged. They stand in a file that all processes of a server have open: reading it is one system call that never
 * reaches a disk, and sees at once what another process has written, which a message would not guarantee.
 */
export class EpochWriter {
  readonly #numbers = new Float64Array(numbers);
  #file: number | undefined;

  constructor(
    /** Called where the file cannot be written, and so workers don't see a change. */
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Makes the file. Before this is called there must be no workers. */
  open(path: string): void {
    this.#file = fs.openSync(path, 'wx', 0o600);
    fs.writeSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
  }

  /** Something has changed that may concern every permit. */
  raise(): void {
    this.#raise(0);
  }

  /** Something has changed that concerns permits for one database. */
  raiseFor(database: string): void {
    this.#raise(placeOf(database));
  }

  epochOf(database: string): Epoch {
    return { server: this.#numbers[0]!, database: this.#numbers[placeOf(database)]! };
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }

  #raise(place: number): void {
    this.#numbers[place]!++;
    if (this.#file === undefined) return;
    try {
      fs.writeSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
    } catch (error) {
      this.onFailure(error);
    }
  }
}

/** The same numbers, for a process that reads them. */
export class EpochReader {
  readonly #numbers = new Float64Array(numbers);
  readonly #file: number;

  constructor(path: string) {
    this.#file = fs.openSync(path, 'r');
  }

  /** Looks at the numbers as they are now. To be called at the beginning of each request. */
  look(): void {
    const bytes = fs.readSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
    // The next owner of the data folder empties the file.
    if (bytes < this.#numbers.byteLength) this.#numbers.fill(NaN);
  }

  /** Whether nothing had changed since an epoch when the numbers were looked at. */
  isCurrent({ server, database }: Epoch, name: string): boolean {
    return this.#numbers[0] === server && this.#numbers[placeOf(name)] === database;
  }
}
