import { badRequest, Refusal } from '../base/errors.js';
import { expectation, parseValue } from './parse-value.js';
import { schema, type Option } from './schema.js';

const nameCharsMax = 1000;
const valueCharsMax = 65_536;

/** Sections that name programs to run or handlers to call: whoever may write them owns the machine. */
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

export function checkWritable(section: string): void {
  if (closedSections.has(section)) {
    throw new Refusal('forbidden', 'Config section blacklisted for modification over HTTP API.');
  }
}

/** Refuses names that could not be told from the structure of a file. */
export function checkName(section: string, key: string): void {
  if (!isName(section)) throw badRequest('Invalid configuration section');
  if (!isName(key)) throw badRequest('Invalid configuration key');
}

export function checkValue(section: string, key: string, value: string): void {
  if (value.length > valueCharsMax || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) {
    throw badRequest('Invalid configuration value');
  }
  const option = optionOf(section, key);
  if (option && value !== '' && parseValue(option, value) === undefined) {
    throw badRequest(`Invalid configuration value: [${section}] ${key} must be ${expectation(option)}.`);
  }
}

export function optionOf(section: string, key: string): Option | undefined {
  const name = `${section}/${key}`;
  return Object.hasOwn(schema, name) ? (schema as Record<string, Option>)[name] : undefined;
}

function isName(name: string): boolean {
  return (
    name !== '' &&
    name === name.trim() &&
    name.length <= nameCharsMax &&
    !/[\u0000-\u001f\u007f[\]]/.test(name)
  );
}
