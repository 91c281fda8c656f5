import { adminHash } from '../../auth/admins.js';
import { notFound } from '../../base/errors.js';
import { optionKey, takeSharedConfig } from '../../node/shared-config.js';
import type { Services } from '../services.js';

/** Stands for all nodes of a cluster, where an option is set. */
export const allNodes = '_all';

/** Sets an option on all nodes of the cluster; gives its old value here. */
export async function shareOption(
  { config, hasher, registry }: Services,
  section: string,
  key: string,
  text: string,
): Promise<string> {
  const value = section === 'admins' ? await adminHash(config, hasher, text) : text.trim();
  config.checkChange(section, key, value);
  const old = config.get(section, key) ?? '';
  await registry.membership.share(optionKey(section, key), value);
  takeSharedConfig(registry.membership, config);
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
  await registry.membership.share(optionKey(section, key), null);
  takeSharedConfig(registry.membership, config);
  return old;
}
