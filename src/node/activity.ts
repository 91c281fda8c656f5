import type { Command } from '../shard/commands.js';
import type { Split } from '../shard/split.js';
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

  committed({ moves, commands, split }: Pick<Touched, 'moves' | 'commands' | 'split'>): void {
    if (commands.some(({ command }) => writing.has(command.type))) this.databaseWrites++;
    for (let i = 0; i < moves.length; i += 3) {
      // A change that only goes is that of a purged document; those of a split's targets are copies.
      if (moves[i + 1] === 0 || isTarget(split, moves[i]!)) continue;
      this.documentWrites++;
      if (moves[i + 2] === 0) this.documentInserts++;
    }
    for (const { command } of commands)
      if (command.type === 'local') this.localDocumentWrites += command.edits.length;
  }
}

/** Commands of clients; the others tidy up. */
const writing = new Set<Command['type']>(['edit', 'local', 'purge', 'assembled']);

const isTarget = (split: Split | undefined, shard: number): boolean =>
  split?.phase === 'copying' && (shard === split.target || shard === split.target + 1);
