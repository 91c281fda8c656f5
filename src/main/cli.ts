#!/usr/bin/env node
import { StartupError } from '../base/startup-error.js';
import { packageVersion } from '../base/version.js';
import { usage } from './usage.js';

/** A command takes its arguments and gives the exit code. */
type Command = (args: string[]) => Promise<number>;

/** Each is loaded when it is called, so that short commands start quickly. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.js')).serve,
  doctor: async () => (await import('./doctor/command.js')).doctor,
  backup: async () => (await import('./commands/backup.js')).backup,
  check: async () => (await import('./commands/check.js')).check,
  cluster: async () => (await import('./commands/cluster.js')).cluster,
  compare: async () => (await import('./commands/compare.js')).compare,
  export: async () => (await import('./commands/export.js')).exportDatabase,
  import: async () => (await import('./commands/import.js')).importDatabase,
  migrate: async () => (await import('./commands/migrate.js')).migrate,
  restore: async () => (await import('./commands/restore.js')).restore,
};

async function main(args: string[]): Promise<number> {
  // Standard output may be a file on a disk that is full, or a pipe without a reader.
  process.stdout.on('error', () => undefined);
  const [first = 'serve', ...rest] = args;
  if (first === '--version' || first === '-v') return print(`${packageVersion()}\n`);
  if (first === '--help' || first === '-h' || first === 'help') return print(usage);
  if (first.startsWith('-')) return await (await commands['serve']!())(args);
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load === undefined) throw new StartupError(`There is no command "${first}". See tuffet --help.`);
  return await (
    await load()
  )(rest);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

// A command that ends without an outcome has failed.
process.exitCode = 1;
main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    const text =
      error instanceof StartupError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    // Whatever a start that broke off has left open must not keep the process alive.
    process.exit(1);
  },
);
