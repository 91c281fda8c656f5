import { adminHash } from '../../auth/admins.js';
import { toBytes } from '../../base/bytes.js';
import { badRequest, notFound } from '../../base/errors.js';
import { optionKey, takeSharedOption } from '../../node/shared-config.js';
import { sharedNameBytesMax } from '../../node/shared-values.js';
import type { Services } from '../services.js';

/** Stands for all nodes of a cluster, where an option is set. */
export const allNodes = '_all';

/** Sections and options that say what a node is, and differ from node to node. */
const ofOneNode: ReadonlySet<string> = new Set([
  'cluster',
  'couchdb/uuid',
  'couchdb/maintenance_mode',
  'chttpd/port',
  'chttpd/bind_address',
]);

/** What is the same on all nodes all the same. */
const ofAllNodes: ReadonlySet<string> = new Set(['cluster/hosts']);

/** Nodes that could not store a name would never get past it in the log. */
function checkShared(section: string, key: string): void {
  const option = `${section}/${key}`;
  if (!ofAllNodes.has(option) && (ofOneNode.has(section) || ofOneNode.has(option)))
    throw badRequest(`The option ${section}/${key} is set for each node by itself.`);
  if (toBytes(optionKey(section, key)).length > sharedNameBytesMax)
    throw badRequest('The name of the option is too long for a cluster.');
}

/** Sets an option on all nodes of the cluster; gives its old value here. */
export async function shareOption(
  { config, hasher, registry }: Services,
  section: string,
  key: string,
  text: string,
): Promise<string> {
  const value = section === 'admins' ? await adminHash(config, hasher, text) : text.trim();
  config.checkChange(section, key, value);
  checkShared(section, key);
  const old = config.get(section, key) ?? '';
  await registry.membership.share(optionKey(section, key), value);
  takeSharedOption(config, section, key, value);
  return old;
}

/** Takes an option back on all nodes; gives the value that it had here. */
export async function unshareOption(
  { config, registry }: Services,
  section: string,
  key: string,
): Promise<string> {
  const old = config.get(section, key);
  if (old === undefined) throw notFound('unknown_config_value');
  config.checkChange(section, key);
  checkShared(section, key);
  await registry.membership.share(optionKey(section, key), null);
  takeSharedOption(config, section, key, null);
  return old;
}
