import type { ConfigValues } from './messages.js';

/** Workers verify no credentials: secrets stay here. */
const secretSections = new Set(['admins', 'jwt_keys', 'chttpd_auth', 'cluster']);
/** Who may list which databases depends on these. */
const sharedOptions = ['authentication_db', 'users_db_suffix', 'users_db_public', 'public_fields'];

/** What workers are told of the configuration. */
export function workerConfig(values: ConfigValues): ConfigValues {
  const shared = Object.entries(values).filter(([section]) => !secretSections.has(section));
  const ofUsers = Object.entries(values['chttpd_auth'] ?? {}).filter(([name]) =>
    sharedOptions.includes(name),
  );
  return { ...Object.fromEntries(shared), chttpd_auth: Object.fromEntries(ofUsers) };
}
