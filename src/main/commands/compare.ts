import { curlLines } from '../../compare/curl.js';
import { differencesPage } from '../../compare/differences-page.js';
import type { Finding } from '../../compare/findings.js';
import { compareModes, compareServers } from '../../compare/run.js';
import { createServer } from '../../server/create-server.js';
import { readArguments, requiredOption, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet compare --reference URL [--subject URL] [--minutes N] [--seed N] [--only TEXT]
                      [--mode grid|random|both] [--reasons]

Sends the same requests to a CouchDB and to Tuffet, and shows where the answers differ other than on purpose. It makes
databases and users whose names begin with compare_ on both servers, and removes them at the end.

  --reference URL  the CouchDB, with the credentials of a server admin: http://admin:secret@127.0.0.1:5984
  --subject URL    the Tuffet, likewise (default: one that is started for it, in memory)
  --minutes N      how long (default 5)
  --seed N         repeats the requests of another run (default: a new one, which is printed)
  --only TEXT      only endpoints with this in "METHOD /route" or path, and no random sequences
  --mode MODE      grid: every endpoint with every parameter; random: random sequences; both (default)
  --reasons        compare the texts of errors too
  --list           print the differences that are on purpose, and compare nothing
  --no-shrink      show what differs at once, without looking for the shortest sequence of requests

Exit code: 0 when nothing was found, 1 otherwise.
`;

export async function compare(args: string[]): Promise<number> {
  const given = readArguments('compare', usage, args, {
    reference: { type: 'string' },
    subject: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    mode: { type: 'string', default: 'both' },
    reasons: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
  });
  if (given === undefined) return 0;
  const { values } = given;
  if (values.list) {
    process.stdout.write(differencesPage());
    return 0;
  }
  const reference = readAddress('reference', requiredOption('compare', 'reference', values.reference));
  const minutes = readNumber('minutes', values.minutes);
  const seed = readNumber('seed', values.seed ?? String(Date.now() % 1_000_000));
  const mode = compareModes.find((each) => each === values.mode);
  if (mode === 'random' && values.only !== '')
    throw wrongUse('compare', '--only chooses endpoints of the grid: it needs another --mode than random.');
  if (mode === undefined) throw wrongUse('compare', `--mode has to be one of ${compareModes.join(', ')}.`);
  const own = values.subject === undefined ? await startSubject(reference) : undefined;
  const subject = own === undefined ? readAddress('subject', values.subject!) : own.address;
  process.stdout.write(`Comparing for ${minutes} minutes with seed ${seed}.\n`);
  try {
    const summary = await compareServers({
      reference: reference.href,
      subject: subject.href,
      minutes,
      seed,
      only: values.only,
      mode,
      reasons: values.reasons,
      shrink: !values['no-shrink'],
      report: (finding) => process.stdout.write(findingText(finding)),
    });
    process.stdout.write(
      `\n${summary.requests} requests and ${summary.sequences} random sequences, ${summary.findings} findings, ${summary.unrepeated} differences that did not appear again.\nCoverage: ${summary.coverage}.\n`,
    );
    return summary.findings === 0 ? 0 : 1;
  } finally {
    await own?.close();
  }
}

function readAddress(option: string, text: string): URL {
  const address = URL.parse(text);
  if (address === null || !/^https?:$/.test(address.protocol))
    throw wrongUse('compare', `--${option} has to be an http or https URL.`);
  if (address.username === '')
    throw wrongUse('compare', `--${option} has to name a server admin: http://name:password@host.`);
  return address;
}

function readNumber(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw wrongUse('compare', `--${option} has to be a number above 0.`);
  return value;
}

/** A server for this run only, with the admin of the reference. */
async function startSubject(reference: URL): Promise<{ address: URL; close(): Promise<void> }> {
  const { username, password } = reference;
  const server = await createServer({
    inMemory: true,
    port: 0,
    logLevel: 'none',
    admins: { [decodeURIComponent(username)]: decodeURIComponent(password) },
  });
  return {
    address: Object.assign(new URL(server.url), { username, password }),
    close: async () => await server.close(),
  };
}

const shownDifferences = 5;
const shownCharacters = 300;

function findingText({ requests, differences }: Finding): string {
  const lines = differences.slice(0, shownDifferences).map(({ member, reference, subject }) => {
    return `  ${member}: CouchDB ${shown(reference)}, Tuffet ${shown(subject)}`;
  });
  const last = requests.at(-1)!;
  const varied =
    last.parameter === undefined ? '' : ` (${[last.parameter, last.kind].filter(Boolean).join(', ')})`;
  return `\n${last.endpoint}${varied}\n${lines.join('\n')}\n${curlLines(requests)
    .map((line) => `    ${line}\n`)
    .join('')}`;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, shownCharacters);
}
