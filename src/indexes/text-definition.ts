import { readAnalyzer, type AnalyzerDefinition } from '../search/analysis/analyzer.js';
import { parseField } from '../selectors/field-path.js';
import { compileSelector } from '../selectors/selector.js';

/** A text index of declarative queries, as it stands in a design document. */
export interface TextDefinition {
  /** Undefined for all fields. */
  readonly fields: readonly TextField[] | undefined;
  /** How the strings that `$text` searches are analyzed; undefined where the index has none. */
  readonly defaultField: AnalyzerDefinition | undefined;
  readonly arrayLengths: boolean;
  /** Undefined where all documents are indexed. */
  readonly partialFilter: JsonObject | undefined;
}

export interface TextField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean';
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The name of the field that `$text` searches. */
export const defaultFieldName = '$default';

/** Reads a member of `indexes`; undefined where it is no text index, or malformed. */
export function textDefinition(source: unknown): TextDefinition | undefined {
  if (!isObject(source) || !isObject(source['index'])) return undefined;
  const { fields, default_field, index_array_lengths, partial_filter_selector, selector } = source['index'];
  const listed = fields === undefined || fields === 'all_fields' ? [] : fields;
  if (!Array.isArray(listed) || !listed.every(isTextField)) return undefined;
  const defaultField = readDefaultField(default_field);
  const partialFilter = [partial_filter_selector, selector].find(isFilter) as JsonObject | undefined;
  if (defaultField === undefined) return undefined;
  try {
    for (const { name } of listed) parseField(name);
    if (partialFilter !== undefined) compileSelector(partialFilter);
  } catch {
    return undefined;
  }
  return {
    fields: listed.length === 0 ? undefined : listed.map(({ name, type }) => ({ name, type })),
    defaultField: defaultField === 'none' ? undefined : defaultField,
    arrayLengths: index_array_lengths !== false,
    partialFilter,
  };
}

/** Undefined where it is malformed. */
export function readDefaultField(given: unknown): AnalyzerDefinition | 'none' | undefined {
  if (given === undefined || given === true) return { name: 'standard' };
  if (given === false) return 'none';
  if (!isObject(given)) return undefined;
  const { enabled, analyzer } = given;
  if (enabled !== undefined && typeof enabled !== 'boolean') return undefined;
  return enabled === false ? 'none' : readAnalyzer(analyzer);
}

const fieldTypes: readonly unknown[] = ['string', 'number', 'boolean'];

export function isTextField(field: unknown): field is TextField {
  if (!isObject(field) || Object.keys(field).length !== 2) return false;
  const { name, type } = field;
  return typeof name === 'string' && name !== '' && fieldTypes.includes(type);
}

const isFilter = (selector: unknown): boolean => isObject(selector) && Object.keys(selector).length > 0;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
