import { badRequest, RequestError } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import type { UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import { compileSelector } from '../selectors/selector.js';
import { parseEndpoint, parseProxy, type Endpoint } from './endpoint.js';
import { filterParts } from './filter-params.js';
import type { Selection, Seq } from './peer.js';
import { isSeq } from './seq.js';

/** What is to be replicated, and how. */
export interface ReplicationSpec {
  source: Endpoint;
  target: Endpoint;
  continuous: boolean;
  createTarget: boolean;
  createTargetParams: Readonly<Record<string, string>>;
  selection: Selection;
  winningRevsOnly: boolean;
  sinceSeq: Seq | undefined;
  useCheckpoints: boolean;
  checkpointIntervalMs: number;
  useBulkGet: boolean;
  workers: number;
  batchSize: number;
  connections: number;
  timeoutMs: number;
  retries: number;
  user: UserContext;
}

type Body = Readonly<Record<string, unknown>>;

export interface SpecRules {
  config: Config;
  user: UserContext;
  /** Whether the bare name of a database may stand for one of this server. */
  localNames: boolean;
  /** The ids that the body names, where they were read before: `readManyIds`. */
  docIds?: readonly string[] | undefined;
}

/** Reads the body of `/_replicate`, or a document of a replicator database. Unknown members are ignored. */
export function parseSpec(body: Body, { config, user, localNames, docIds }: SpecRules): ReplicationSpec {
  const protocols = words(config.text('replicator/valid_endpoint_protocols'));
  const proxies = readProxies(body, words(config.text('replicator/valid_proxy_protocols')));
  const source = parseEndpoint(body['source'], { proxy: proxies.source, localNames, protocols });
  const target = parseEndpoint(body['target'], { proxy: proxies.target, localNames, protocols });
  return {
    source,
    target,
    continuous: flag(body, 'continuous', false),
    createTarget: flag(body, 'create_target', false),
    createTargetParams: readTargetParams(body),
    selection: readSelection(body, docIds),
    winningRevsOnly: flag(body, 'winning_revs_only', false),
    sinceSeq: readSince(body),
    // As in CouchDB, only false turns them off.
    useCheckpoints: (body['use_checkpoints'] ?? config.boolean('replicator/use_checkpoints')) !== false,
    useBulkGet: flag(body, 'use_bulk_get', config.boolean('replicator/use_bulk_get')),
    checkpointIntervalMs: count(body, 'checkpoint_interval', config.number('replicator/checkpoint_interval')),
    workers: count(body, 'worker_processes', config.number('replicator/worker_processes'), 64),
    batchSize: count(body, 'worker_batch_size', config.number('replicator/worker_batch_size'), 10_000),
    connections: count(body, 'http_connections', config.number('replicator/http_connections'), 1_000),
    timeoutMs: count(body, 'connection_timeout', config.number('replicator/connection_timeout')),
    retries: count(body, 'retries_per_request', config.number('replicator/retries_per_request'), 100, 0),
    user,
  };
}

const words = (text: string): string[] => text.split(',').map((each) => each.trim().toLowerCase());

function readProxies(
  body: Body,
  protocols: readonly string[],
): { source: string | undefined; target: string | undefined } {
  const both = parseProxy('proxy', body['proxy'], protocols);
  const source = parseProxy('source_proxy', body['source_proxy'], protocols);
  const target = parseProxy('target_proxy', body['target_proxy'], protocols);
  if (both !== undefined && source !== undefined)
    throw badRequest('`proxy` is mutually exclusive with `source_proxy`');
  if (both !== undefined && target !== undefined)
    throw badRequest('`proxy` is mutually exclusive with `target_proxy`');
  return { source: source ?? both, target: target ?? both };
}

/** The value of an option that is true or false. */
export function flag(body: Body, name: string, standard: boolean): boolean {
  const value = body[name];
  if (value === undefined) return standard;
  if (typeof value !== 'boolean') throw badRequest(`parameter \`${name}\` must be a boolean`);
  return value;
}

function count(body: Body, name: string, standard: number, most = 2 ** 31 - 1, least = 1): number {
  const value = body[name];
  if (value === undefined || value === null) return standard;
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
    throw badRequest(`parameter \`${name}\` must be an integer from ${least} to ${most}`);
  return number;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readTargetParams(body: Body): Record<string, string> {
  const value = body['create_target_params'];
  if (value === undefined) return {};
  if (!isObject(value)) throw badRequest('parameter `create_target_params` must be a JSON object');
  const params: Record<string, string> = {};
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'string' && typeof each !== 'number' && typeof each !== 'boolean')
      throw badRequest(`parameter \`create_target_params.${name}\` must be a string or a number`);
    params[name] = String(each);
  }
  return params;
}

export const mutuallyExclusive = '`doc_ids`,`filter`,`selector` are mutually exclusive';

function readSelection(body: Body, docIds: readonly string[] | undefined): Selection {
  const given = ['doc_ids', 'filter', 'selector'].filter((name) => isGiven(body[name]));
  const { doc_ids: ids, filter, selector, query_params: params } = body;
  if (isGiven(ids) && !Array.isArray(ids)) throw badRequest('parameter `doc_ids` must be an array');
  if (selector !== undefined && !isObject(selector))
    throw badRequest('parameter `selector` must be a JSON object');
  if (given.length > 1) throw badRequest(mutuallyExclusive);
  if (params !== undefined && !isObject(params))
    throw badRequest('parameter `query_params` must be an object');
  if (Array.isArray(ids)) return { kind: 'doc_ids', ids: docIds ?? readIds(ids) };
  if (isObject(selector)) {
    // Refused now rather than by the source, once for each time the replication is tried.
    compileSelector(selector);
    return { kind: 'selector', selector };
  }
  if (!isGiven(filter)) return { kind: 'all' };
  if (typeof filter !== 'string') throw badRequest('parameter `filter` must be a string');
  checkFilterName(filter);
  return { kind: 'filter', name: filter, params: isObject(params) ? params : {} };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Ids come as they would stand in an address: escaped, and with a plus for a space. Order and repetition don't count. */
function readIds(ids: readonly unknown[]): string[] {
  const texts = ids.map((each) => {
    if (typeof each !== 'string' || each === '')
      throw badRequest('parameter `doc_ids` must be an array of document ids');
    return unescape(each);
  });
  return [...new Set(texts)].sort();
}

/** More ids than these are read in slices. */
const idsAtOnce = 2_000;

/** Reads the ids of a body that names many of them; undefined where it doesn't, or where they are to be refused. */
export async function readManyIds(body: Body, runtime: Runtime): Promise<readonly string[] | undefined> {
  const ids = body['doc_ids'];
  if (!Array.isArray(ids) || ids.length <= idsAtOnce) return undefined;
  const slice = runtime.slice();
  const texts: string[] = [];
  for (const each of ids as unknown[]) {
    if (typeof each !== 'string' || each === '') return undefined;
    texts.push(unescape(each));
    if (slice.isOver) await slice.next();
  }
  const list = await sortInSlices(texts, (a, b) => (a < b ? -1 : a > b ? 1 : 0), runtime);
  const distinct: string[] = [];
  for (const text of list) {
    if (text !== distinct.at(-1)) distinct.push(text);
    if (slice.isOver) await slice.next();
  }
  // What follows takes a turn of its own.
  await slice.next();
  return distinct;
}

function unescape(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function checkFilterName(name: string): void {
  if (name.startsWith('_') && name.length > 1) return;
  if (filterParts(name) === undefined)
    throw new RequestError('error', 'Invalid filter. Must match `ddocname/filtername`.');
}

function readSince(body: Body): Seq | undefined {
  const value = body['since_seq'];
  if (!isGiven(value)) return undefined;
  if (!isSeq(value)) throw badRequest('parameter `since_seq` must be a sequence');
  return value;
}
