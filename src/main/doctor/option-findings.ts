import { parseHash } from '../../auth/passwords.js';
import { isVariant, kindOf, optionOf } from '../../config/checks.js';
import { couchdbKeys, couchdbSections, isCouchdbOption } from '../../config/couchdb-names.js';
import type { IniEntry } from '../../config/ini.js';
import { newerName, splitName } from '../../config/older-names.js';
import { expectation, formatValue, isValue, parseValue } from '../../config/parse-value.js';
import { openSections, schema } from '../../config/schema.js';
import { note, problem, type Finding } from './finding.js';
import { nearest } from './nearest.js';

/** Findings about single lines of one file: unknown names, invalid values. */
export function optionFindings(file: string, entries: readonly IniEntry[]): Finding[] {
  return entries.flatMap((entry) => {
    const where = `${file}:${entry.firstLine + 1}`;
    if (entry.section === '') {
      return [
        problem(where, `"${entry.key}" stands before any section.`, 'Write a line like [chttpd] above it.'),
      ];
    }
    if (entry.section === 'admins') return adminFindings(where, entry);
    return [...nameFindings(where, entry), ...valueFindings(where, entry)];
  });
}

function adminFindings(where: string, { key, value }: IniEntry): Finding[] {
  if (value === null || value === '' || parseHash(value) !== undefined) return [];
  if (/^-(?:pbkdf2|hashed)/.test(value)) {
    return [
      problem(
        where,
        `The hash of the server admin ${key} is damaged, and would be taken for a password.`,
        'Write the password in its place; the server replaces it by its hash at the next start.',
      ),
    ];
  }
  return [
    problem(
      where,
      `The password of the server admin ${key} stands there in clear text.`,
      'Start the server once: it replaces the password by its hash. It needs to be able to write the file.',
    ),
  ];
}

function nameFindings(where: string, { section, key }: IniEntry): Finding[] {
  const name = `[${section}] ${key}`;
  if (optionOf(section, key) !== undefined || section in openSections) return [];
  const newer = newerName(section, key);
  if (newer !== undefined) {
    return [
      note(where, `${name} is an older name, which is understood.`, `Write it as [${newer[0]}] ${newer[1]}.`),
    ];
  }
  const replaced = replacements.get(`${section}/${key}`);
  if (replaced !== undefined) return [note(where, `${name} has no effect here.`, replaced)];
  if (isCouchdbOption(section, key)) {
    return [
      note(where, `${name} is an option of CouchDB that has no effect here.`, 'Leave it or remove it.'),
    ];
  }
  const meant = meantBy(section, key);
  if (meant !== undefined) {
    return [problem(where, `${name} is unknown.`, `Did you mean [${meant[0]}] ${meant[1]}?`)];
  }
  return isKnownSection(section)
    ? [
        problem(
          where,
          `${name} is unknown, and has no effect.`,
          'Remove it, or look for its name in docs/configuration.md.',
        ),
      ]
    : [
        note(
          where,
          `${name} stands in a section of your own: the server keeps it, and makes no use of it.`,
          'Nothing, if that is what it is for.',
        ),
      ];
}

/** What does here what an option of CouchDB does there. */
const replacements = new Map([
  [
    'chttpd/server_options',
    'See [chttpd] backlog, [tuffet] header_bytes_max, headers_max and connections_max.',
  ],
  [
    'httpd/port',
    'It is the port of a single node, which this server does not have. The one for clients is [chttpd] port.',
  ],
  [
    'httpd/bind_address',
    'It belongs to the port of a single node, which this server does not have. See [chttpd] bind_address.',
  ],
  ['daemons/httpsd', 'TLS is switched on with [ssl] enable = true.'],
  ['couchdb/database_dir', 'The data folder is chosen with --data or TUFFET_DATA.'],
  ['couchdb/view_index_dir', 'Indexes lie in the data folder, which is chosen with --data or TUFFET_DATA.'],
  ['couchdb/max_bulk_docs_count', 'See [tuffet] bulk_docs_max.'],
]);

/** The option whose name is nearest, in this section or another. */
function meantBy(section: string, key: string): [section: string, key: string] | undefined {
  const known = Object.keys(schema).map(splitName);
  const elsewhere = known.filter(([, each]) => each === key);
  if (elsewhere.length === 1) return elsewhere[0];
  const sections = new Set([...known.map(([each]) => each), ...couchdbSections]);
  const meantSection = sections.has(kindOf(section)) ? section : nearest(section, sections);
  if (meantSection === undefined) return undefined;
  const keys = [
    ...known.filter(([each]) => each === kindOf(meantSection)).map(([, each]) => each),
    ...couchdbKeys(meantSection),
  ];
  const meantKey = nearest(key, keys);
  return meantKey === undefined ? undefined : [meantSection, meantKey];
}

const isKnownSection = (section: string): boolean =>
  Object.keys(schema).some((name) => name.startsWith(`${kindOf(section)}/`)) ||
  couchdbSections.includes(section);

function valueFindings(where: string, { section, key, value }: IniEntry): Finding[] {
  const [realSection, realKey] = newerName(section, key) ?? [section, key];
  const option = optionOf(realSection, realKey);
  if (option === undefined || value === null || value === '' || isValue(option, value)) return [];
  const standard = formatValue(option.default);
  const isReplaced = parseValue(option, value) === undefined;
  const replaced = isVariant(section)
    ? `that of [${kindOf(section)}] is used`
    : standard === ''
      ? 'it counts as not set'
      : `${standard} is used`;
  return [
    problem(
      where,
      `[${section}] ${key} can't be ${JSON.stringify(value)}: ${isReplaced ? replaced : 'it cannot be used'}.`,
      `Write ${expectation(option)}.`,
    ),
  ];
}
