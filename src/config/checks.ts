import { badRequest, RequestError } from '../base/errors.js';
import { expectation, isValue } from './parse-value.js';
import type { Option } from './options.js';
import { schema } from './schema.js';

const nameCharsMax = 1000;
const valueCharsMax = 65_536;

/** Sections that name programs to run or handlers to call: write access to them is control of the machine. */
const closedSections = new Set([
  'daemons',
  'external',
  'feature_flags',
  'httpd_db_handlers',
  'httpd_design_handlers',
  'httpd_global_handlers',
  'native_query_servers',
  'os_daemons',
  'query_servers',
]);

/**
 * Options that name files. Server admins must not be able to make the server read or write other files of its machine
 * over HTTP, so these can only be set in files. The list has options of CouchDB, too, that this server does not use, so
 * that they are safe if it ever does.
 */
const closedOptions = new Set([
  'cluster/nats_ca_file',
  'cluster/nats_cert_file',
  'cluster/nats_credentials_file',
  'cluster/nats_key_file',
  'couchdb/database_dir',
  'couchdb/plugin_dir',
  'couchdb/uri_file',
  'couchdb/util_driver_dir',
  'couchdb/view_index_dir',
  'log/file',
  'log/writer',
  'replicator/cert_file',
  'replicator/key_file',
  'replicator/ssl_trusted_certificates_file',
  'ssl/cacert_file',
  'ssl/cert_file',
  'ssl/key_file',
  'tuffet/utils_dir',
]);

/** Refuses a change over the API of what is closed to it, or not on the list of what is open where there is one. */
export function checkWritable(section: string, key: string, whitelist: string): void {
  if (closedSections.has(section)) {
    throw new RequestError('forbidden', 'Config section blacklisted for modification over HTTP API.');
  }
  if (closedOptions.has(`${section}/${key}`)) {
    throw new RequestError('forbidden', `[${section}] ${key} can only be set in a file of the server.`);
  }
  if (whitelist !== '' && !namedIn(whitelist, section, key) && !isCorrection(whitelist, section, key)) {
    throw new RequestError('modification_not_allowed', 'This config variable is read-only');
  }
}

/** A whitelist that is no list can be corrected over the API. */
function isCorrection(whitelist: string, section: string, key: string): boolean {
  return section === 'chttpd' && key === 'config_whitelist' && !/^\[.*\]$/.test(whitelist);
}

/** Whether a list such as `[{log,level}, {"uuids", "algorithm"}]` names an option. */
function namedIn(whitelist: string, section: string, key: string): boolean {
  for (const [, pair = ''] of whitelist.matchAll(/\{([^{}]*)\}/g)) {
    const [first, second] = pair
      .split(',')
      .map((part) => part.trim().replace(/^(?:<<)?["']?|["']?(?:>>)?$/g, ''));
    if (first === section && second === key) return true;
  }
  return false;
}

/** Refuses names that could not be told from the structure of a file. */
export function checkName(section: string, key: string): void {
  if (!isName(section)) throw badRequest('Invalid configuration section');
  if (!isName(key)) throw badRequest('Invalid configuration key');
}

export function checkValue(section: string, key: string, value: string): void {
  if (value.length > valueCharsMax || /[^\t\x20-\x7e\xa1-\xff]/.test(value)) {
    throw badRequest('Invalid configuration value');
  }
  const option = optionOf(section, key);
  if (option && value !== '' && !isValue(option, value)) {
    throw badRequest(`Invalid configuration value: [${section}] ${key} must be ${expectation(option)}.`);
  }
}

export function optionOf(section: string, key: string): Option | undefined {
  const name = `${kindOf(section)}/${key}`;
  return Object.hasOwn(schema, name) ? (schema as Record<string, Option>)[name] : undefined;
}

/** `[cors:example.com]` has the options of `[cors]`, without their defaults. */
const variantPrefix = 'cors:';

export const isVariant = (section: string): boolean => section.startsWith(variantPrefix);

/** The section whose options a section has. */
export const kindOf = (section: string): string => (isVariant(section) ? 'cors' : section);

function isName(name: string): boolean {
  return (
    name !== '' &&
    name === name.trim() &&
    name.length <= nameCharsMax &&
    !/[\u0000-\u001f\u007f[\]]/.test(name)
  );
}
