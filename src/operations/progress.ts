/** What a long command tells of itself while it works. */
export interface Progress {
  /** A new part of the work, and how much there is to do; 0 where that is not known. */
  begin(what: string, total: number): void;
  advance(by: number): void;
}
