import { createHash } from 'node:crypto';
import type { Endpoint } from './endpoint.js';
import { filterParts } from './filter-params.js';
import type { LocalDoc, Selection } from './peer.js';
import type { ReplicationSpec } from './spec.js';
import { notFound } from '../base/errors.js';

/**
 * What tells one replication from another. Checkpoints are kept under the base, so it is made of everything that
 * decides which documents go where, and of nothing else: not of passwords, nor of where to start or how fast to go. The
 * text behind it tells jobs apart that share their checkpoints.
 */
export interface ReplicationId {
  base: string;
  extension: string;
}

/** The form of ids and checkpoints, as CouchDB numbers them. */
export const idVersion = 4;

export const fullId = ({ base, extension }: ReplicationId): string => base + extension;

/** `readSourceDoc` reads the design document of a filter: another function makes another replication. */
export async function replicationId(
  spec: ReplicationSpec,
  serverId: string,
  readSourceDoc: (id: string) => Promise<LocalDoc | undefined>,
): Promise<ReplicationId> {
  const parts = [
    idVersion,
    serverId,
    identityOf(spec.source),
    identityOf(spec.target),
    await selectionIdentity(spec, readSourceDoc),
    spec.winningRevsOnly,
    // Where `since_seq` stood in earlier versions: checkpoints are still found.
    null,
  ];
  const base = createHash('md5').update(JSON.stringify(parts)).digest('hex');
  const extension = (spec.continuous ? '+continuous' : '') + (spec.createTarget ? '+create_target' : '');
  return { base, extension };
}

function identityOf(endpoint: Endpoint): unknown {
  if (endpoint.kind === 'local') return ['local', endpoint.name];
  const { url, headers, login } = endpoint;
  const names = Object.keys(headers).filter((name) => !secretHeaders.has(name));
  return ['remote', url, login?.name ?? null, names.sort().map((name) => [name, headers[name]])];
}

const secretHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

async function selectionIdentity(
  { selection, source }: ReplicationSpec,
  readSourceDoc: (id: string) => Promise<LocalDoc | undefined>,
): Promise<unknown> {
  if (selection.kind !== 'filter' || selection.name.startsWith('_')) return sorted(selection);
  const address = source.kind === 'local' ? source.name : source.url;
  const code = await filterCode(selection, address, readSourceDoc);
  return [sorted(selection), code];
}

async function filterCode(
  { name }: Selection & { kind: 'filter' },
  address: string,
  readSourceDoc: (id: string) => Promise<LocalDoc | undefined>,
): Promise<string> {
  const [ddoc, filter] = filterParts(name)!;
  const doc = await readSourceDoc(`_design/${ddoc}`);
  if (doc === undefined)
    throw notFound(`Couldn't open document \`_design/${ddoc}\` from source database \`${address}\``);
  const filters = doc['filters'] as Record<string, unknown> | undefined;
  const code = typeof filters === 'object' && filters !== null ? filters[filter] : undefined;
  if (typeof code !== 'string')
    throw notFound(`The document \`_design/${ddoc}\` of \`${address}\` has no filter \`${filter}\``);
  return code.trim();
}

/** The same value with the members of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, each]) => [name, sorted(each)]);
}
