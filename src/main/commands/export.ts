import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { exportLines } from '../../operations/remote/export.js';
import { databaseAt } from '../../operations/remote/remote-server.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet export URL [--output FILE] [--no-attachments]

Writes a database of a running server, Tuffet or CouchDB, as lines of JSON (NDJSON): each is a document, in the form that
_bulk_docs takes with new_edits=false. There is one line for every leaf revision, deleted ones included, with its history
and attachments; then one for every local document but checkpoints of replications; then one for the security object.

  URL                http://NAME:PASSWORD@127.0.0.1:5984/DATABASE
  --output FILE      where to write; standard output unless given
  --no-attachments   leave attachments out
`;

export async function exportDatabase(args: string[]): Promise<number> {
  const given = readArguments('export', usage, args, {
    output: { type: 'string' },
    'no-attachments': { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { values, positionals } = given;
  if (positionals.length !== 1) throw wrongUse('export', 'Name the address of one database.');
  const { server, db } = databaseAt(positionals[0]!);
  const bar = new ProgressBar(process.stderr);
  const lines = exportLines(server, db, { attachments: !values['no-attachments'], progress: bar });
  const output =
    values.output === undefined ? process.stdout : fs.createWriteStream(values.output, { mode: 0o600 });
  await pipeline(lines, output, { end: output !== process.stdout }).finally(() => bar.end());
  return 0;
}
