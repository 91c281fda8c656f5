import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Documents in the database that is read. */
  docs: number;
  /** How long each sample takes, where it is a matter of time. */
  seconds: number;
  /** Samples of floor and figure each. */
  rounds: number;
  /** The server's; the default is its own. */
  logLevel: string;
  json: string | undefined;
  /** The address of a CouchDB to compare with in place of floors, with the credentials of its admin. */
  reference: string | undefined;
  /** How long the server rests before its memory is measured. */
  rest: number;
  /** Whether to tell what the server spent its time on. */
  profile: boolean;
  names: string[];
}

export const usage = `Usage: npm run bench [-- options] [names]

  --docs N         documents in the database (default 50000)
  --seconds S      length of one sample (default 1)
  --rounds R       samples of each figure and of its floor, taken in turn (default 5)
  --log-level L    log level of the server (default notice, as the server has it)
  --json FILE      also keep the result there
  --reference URL  compare with a CouchDB in place of floors; URL has the name and password of its admin.
                   A test server: the databases that are created there are deleted at the end
  --rest S         seconds of rest before the server's memory is measured (default 1)
  --profile        tell what the server's threads spent their time on; rates are lower then
`;

export function parseOptions(args: string[], known: readonly string[]): BenchOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      docs: { type: 'string', default: '50000' },
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '5' },
      'log-level': { type: 'string', default: 'notice' },
      json: { type: 'string' },
      reference: { type: 'string' },
      rest: { type: 'string', default: '1' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const stranger = positionals.find((name) => !known.includes(name));
  if (stranger !== undefined) throw new Error(`There is no figure "${stranger}": use ${known.join(', ')}.`);
  return {
    docs: count('docs', values.docs),
    seconds: count('seconds', values.seconds),
    rounds: count('rounds', values.rounds),
    logLevel: values['log-level'],
    json: values.json,
    reference: values.reference,
    rest: count('rest', values.rest),
    profile: values.profile,
    names: positionals,
  };
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above zero.`);
  return value;
}
