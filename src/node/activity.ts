import type { Touched } from '../shard/write-view.js';

/** What has been written to databases since the start, for monitoring. */
export class Activity {
  /** Revisions of documents. */
  documentWrites = 0;
  /** Those of documents that were not there before. */
  documentInserts = 0;
  localDocumentWrites = 0;
  /** Commits that changed a database, counted for each database. */
  databaseWrites = 0;

  committed({ moves, commands }: Pick<Touched, 'moves' | 'commands'>): void {
    if (moves.length > 0) this.databaseWrites++;
    for (let i = 0; i < moves.length; i += 3) {
      // A change that only goes is that of a purged document.
      if (moves[i + 1] === 0) continue;
      this.documentWrites++;
      if (moves[i + 2] === 0) this.documentInserts++;
    }
    for (const { command } of commands)
      if (command.type === 'local') this.localDocumentWrites += command.edits.length;
  }
}
