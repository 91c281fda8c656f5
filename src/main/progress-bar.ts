import type { Progress } from '../operations/progress.js';

const redrawMs = 100;
const width = 30;

/** Shows how far a command is, on a terminal; says nothing where the output goes elsewhere. */
export class ProgressBar implements Progress {
  #what = '';
  #total = 0;
  #done = 0;
  #drawnAt = 0;

  constructor(private readonly output: NodeJS.WriteStream) {}

  begin(what: string, total: number): void {
    this.#what = what;
    this.#total = total;
    this.#done = 0;
    this.#draw();
  }

  advance(by: number): void {
    this.#done += by;
    if (performance.now() - this.#drawnAt > redrawMs) this.#draw();
  }

  /** Takes the bar away. */
  end(): void {
    if (this.output.isTTY) this.output.write('\r\x1b[K');
  }

  #draw(): void {
    if (!this.output.isTTY) return;
    this.#drawnAt = performance.now();
    const share = this.#total === 0 ? 0 : Math.min(1, this.#done / this.#total);
    const filled = Math.round(share * width);
    const bar =
      this.#total === 0
        ? ''
        : ` [${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${Math.floor(share * 100)} %`;
    this.output.write(`\r\x1b[K${this.#what}${bar}`);
  }
}
