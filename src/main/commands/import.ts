import fs from 'node:fs';
import readline from 'node:readline';
import { StartupError } from '../../base/startup-error.js';
import { Importer } from '../../operations/remote/import.js';
import { databaseAt } from '../../operations/remote/remote-server.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet import URL [--input FILE]

Writes lines of JSON (NDJSON) to a database of a running server, which is made if need be: what tuffet export has
written, or any file with one JSON object on each line. A line with a _rev keeps that revision and its history; one
without is a new document.

  URL            http://NAME:PASSWORD@127.0.0.1:5984/DATABASE
  --input FILE   what to read; standard input unless given

Exit code: 0 when all documents were saved, 1 when the server refused some of them.
`;

export async function importDatabase(args: string[]): Promise<number> {
  const given = readArguments('import', usage, args, { input: { type: 'string' } });
  if (given === undefined) return 0;
  const { values, positionals } = given;
  if (positionals.length !== 1) throw wrongUse('import', 'Name the address of one database.');
  const { server, db } = databaseAt(positionals[0]!);
  if (values.input !== undefined && !fs.existsSync(values.input))
    throw new StartupError(`${values.input} does not exist.`);
  const input = values.input === undefined ? process.stdin : fs.createReadStream(values.input);
  const bar = new ProgressBar(process.stderr);
  const result = await new Importer(server, db, bar).run(linesOf(input)).finally(() => bar.end());
  process.stdout.write(`${result.documents} documents imported, ${result.refusedCount} refused.\n`);
  for (const { id, reason } of result.refused) process.stderr.write(`${id}: ${reason}\n`);
  return result.refusedCount === 0 ? 0 : 1;
}

/** Begins to read when the first line is asked for: lines that come sooner would be lost. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncIterable<string> {
  yield* readline.createInterface({ input, crlfDelay: Infinity });
}
