import { createHash } from 'node:crypto';
import { fromBytes, type Bytes } from '../../base/bytes.js';
import { FunctionError, RequestError, type ErrorName } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import type { DesignDoc } from '../../node/design-doc-cache.js';
import { designOf } from '../../design/design-docs.js';
import { openDesignDoc, requireJavascript, scriptSpace } from '../../design/design-functions.js';
import { requireMember } from '../../design/script-filter.js';
import type { Exchange } from '../exchange.js';
import type { DatabaseRoute } from '../routes/route.js';

/** A function of a design document that answers a request. */
export interface FoundFunction {
  design: DesignDoc;
  path: readonly string[];
}

/** The design document that the address names, and its function. */
export function functionOf({ parts }: Exchange, database: Database, kind: string): FoundFunction {
  const design = openDesignDoc(database, parts[2]!);
  const path = [kind, fromBytes(parts[4]!)];
  requireMember(design.value, path);
  requireJavascript(design.value);
  return { design, path };
}

/** Calls a function once and gives what it gave, as JSON. */
export async function callFunction(
  { services }: Exchange,
  database: Database,
  { design, path }: FoundFunction,
  given: Bytes,
): Promise<Bytes> {
  const [value] = await services.scripts.call(scriptSpace(database), design.program, path, [given]);
  if (value === undefined) throw new Error('a function gave nothing');
  if ('ok' in value) return value.ok;
  throw new FunctionError(value.error, value.reason);
}

/** A tag of all known inputs of an answer. What else a function depends on can't be known. */
export function functionTag(exchange: Exchange, { program }: DesignDoc, state: string): string {
  const { user } = exchange;
  const accept = exchange.header('accept') ?? '';
  const parts = [program.id, state, accept, user.name, user.roles];
  return `"${createHash('md5').update(JSON.stringify(parts)).digest('hex')}"`;
}

/** An address that names no function. That the design document is missing is told first. */
export function incomplete(path: string, error: ErrorName, ...methods: string[]): DatabaseRoute {
  const refuse = ({ parts }: Exchange, database: Database): never => {
    designOf(database, fromBytes(parts[2]!));
    throw new RequestError(error, 'Invalid path.');
  };
  return {
    path: `/{db}/_design/{ddoc}/${path}`,
    allow: 'GET,POST,HEAD',
    access: 'member',
    methods: Object.fromEntries(methods.map((method) => [method, refuse])),
  };
}
