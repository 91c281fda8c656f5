import { RequestError } from '../base/errors.js';
import { isTextField, readDefaultField } from '../indexes/text-definition.js';
import { readAnalyzer } from '../search/analysis/analyzer.js';
import { parseField } from '../selectors/field-path.js';
import { shown } from '../selectors/refusals.js';
import { compileSelector } from '../selectors/selector.js';
import { invalidKey, readBoolean } from './refusals.js';

type JsonObject = Readonly<Record<string, unknown>>;

type Reader = (value: unknown) => unknown;

/** The members of a text index' definition in the order in which CouchDB stores them, with their defaults. */
const members: Readonly<Record<string, { otherwise: unknown; read: Reader }>> = {
  default_analyzer: {
    otherwise: 'keyword',
    read: (value) => checked(value, readAnalyzer, 'default_analyzer'),
  },
  default_field: { otherwise: {}, read: (value) => checked(value, readDefaultField, 'default_field') },
  partial_filter_selector: { otherwise: {}, read: readFilter },
  selector: { otherwise: {}, read: readFilter },
  fields: { otherwise: 'all_fields', read: readFields },
  index_array_lengths: { otherwise: true, read: readBoolean },
};

/** The search index that a text index is stored as in its design document. */
export function textIndexOf(given: unknown): JsonObject {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RequestError('invalid_index', `Text indexes must be an object, not: ${shown(given)}`);
  const def = given as JsonObject;
  for (const name of Object.keys(def)) if (!Object.hasOwn(members, name)) throw invalidKey(name);
  const index = Object.fromEntries(
    Object.entries(members).map(([name, { otherwise, read }]) => [
      name,
      Object.hasOwn(def, name) ? read(def[name]) : otherwise,
    ]),
  );
  return { index, analyzer: analyzerOf(index) };
}

/** CouchDB's own search takes the analyzer from here. */
function analyzerOf({ default_analyzer, default_field }: JsonObject): unknown {
  if (readDefaultField(default_field) === 'none') return 'keyword';
  const { analyzer = 'standard' } = Object(default_field) as JsonObject;
  return { name: 'perfield', default: default_analyzer, fields: { $default: analyzer } };
}

function checked(value: unknown, read: (value: unknown) => unknown, name: string): unknown {
  if (value === undefined || read(value) === undefined)
    throw new RequestError('invalid_index', `Invalid ${name}: ${shown(value)}`);
  return value;
}

function readFilter(value: unknown): unknown {
  compileSelector(value);
  return value;
}

const fieldsMax = 1_000;

function readFields(value: unknown): unknown {
  if (value === 'all_fields' || (Array.isArray(value) && value.length === 0)) return 'all_fields';
  if (!Array.isArray(value) || !value.every(isTextField))
    throw new RequestError(
      'invalid_index_fields_definition',
      `Fields of a text index must be of the form {"name": "field", "type": "string"}, ` +
        `where the type may also be "number" or "boolean", not: ${shown(value)}`,
    );
  if (value.length > fieldsMax)
    throw new RequestError('invalid_index_fields_definition', `There are more than ${fieldsMax} fields.`);
  for (const { name } of value) parseField(name);
  return value;
}
