import type { Config } from '../config/config.js';
import type { Membership } from './membership.js';
import { configPrefix } from './shared-values.js';

/** The key under which the nodes share an option. */
export const optionKey = (section: string, key: string): string =>
  `${configPrefix}${encodeURIComponent(section)}/${key}`;

/** From now on options that are set for all nodes are taken over here when another one sets them. */
export function watchSharedConfig(membership: Membership, config: Config): void {
  membership.onShared = ({ name, value }) => {
    if (name.startsWith(configPrefix)) take(config, name.slice(configPrefix.length), value);
  };
}

/** Takes over what was set for all nodes while this one was away. It wins over files and the command line. */
export function takeSharedConfig(membership: Membership, config: Config): void {
  for (const [name, value] of membership.shared(configPrefix)) take(config, name, value);
}

function take(config: Config, name: string, value: string | null): void {
  const slash = name.indexOf('/');
  takeSharedOption(config, decodeURIComponent(name.slice(0, slash)), name.slice(slash + 1), value);
}

/** Takes over one option that is set for all nodes, or taken back. */
export function takeSharedOption(config: Config, section: string, key: string, value: string | null): void {
  if ((config.get(section, key) ?? null) !== value) config.adopt(section, key, value);
}
