import { parseArgs, type ParseArgsConfig } from 'node:util';
import { StartupError } from '../../base/startup-error.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The options of a command; undefined where its help was asked for, which is printed. */
export function readArguments<const O extends Options>(
  name: string,
  usage: string,
  args: string[],
  options: O,
) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } } as O & { help: { type: 'boolean' } },
    });
    if ((values as { help?: boolean }).help) {
      process.stdout.write(usage);
      return undefined;
    }
    return { values, positionals };
  } catch (error) {
    // Node's message goes on with advice on further lines and sentences; its first sentence says what is wrong.
    throw wrongUse(name, (error as Error).message.split(/\. |\n/)[0]!.replace(/\.?$/, '.'));
  }
}

export const wrongUse = (name: string, message: string): StartupError =>
  new StartupError(`${message} See tuffet ${name} --help.`);

export function requiredOption(name: string, option: string, value: string | undefined): string {
  if (value === undefined || value === '') throw wrongUse(name, `--${option} is missing.`);
  return value;
}

/** Bytes for people. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let amount = bytes;
  for (; amount >= 1000 && unit < units.length - 1; unit++) amount /= 1000;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
