import { optionOf } from '../../config/checks.js';
import type { RemoteServer } from './remote-server.js';

export interface ConfigReport {
  /** Options that the target has now, as `section/key`. */
  taken: string[];
  /** Those that it refused, with its reason. */
  left: string[];
}

/** Sections that mean the same here, and of others the options that are set for what they mean to clients. */
const sections = new Set(['cors', 'jwt_auth', 'jwt_keys']);
const options = new Set([
  'chttpd/admin_only_all_dbs',
  'chttpd/enable_cors',
  'chttpd/max_http_request_size',
  'chttpd/require_valid_user',
  'chttpd/require_valid_user_except_for_up',
  'chttpd_auth/allow_persistent_cookies',
  'chttpd_auth/cookie_domain',
  'chttpd_auth/password_regexp',
  'chttpd_auth/public_fields',
  'chttpd_auth/same_site',
  'chttpd_auth/secret',
  'chttpd_auth/timeout',
  'couchdb/default_security',
  'couchdb/max_attachment_size',
  'couchdb/max_document_size',
  'couchdb/users_db_security_editable',
  'mango/default_limit',
  'uuids/algorithm',
  'uuids/utc_id_suffix',
]);

type Sections = Record<string, Record<string, string>>;

/** Takes over server admins, whose passwords stay as they are, and what clients notice of the configuration. */
export async function migrateConfig(from: RemoteServer, to: RemoteServer): Promise<ConfigReport> {
  const report: ConfigReport = { taken: [], left: [] };
  const [source, target] = await Promise.all(
    [from, to].map((server) => server.find<Sections>('/_node/_local/_config')),
  );
  if (source === undefined || target === undefined) return report;
  const put = async (section: string, key: string, value: string, query = ''): Promise<void> => {
    const path = `/_node/_local/_config/${encodeURIComponent(section)}/${encodeURIComponent(key)}${query}`;
    try {
      await to.put(path, value);
      report.taken.push(`${section}/${key}`);
    } catch (error) {
      report.left.push(`${section}/${key}: ${(error as Error).message}`);
    }
  };
  for (const [name, hash] of Object.entries(source['admins'] ?? {}))
    if (target['admins']?.[name] === undefined) await put('admins', name, hash, '?raw=true');
  for (const [section, keys] of Object.entries(source)) {
    for (const [key, value] of Object.entries(keys)) {
      const isMeant = sections.has(section) || options.has(`${section}/${key}`);
      if (!isMeant || (section !== 'jwt_keys' && optionOf(section, key) === undefined)) continue;
      if (value !== '' && target[section]?.[key] !== value) await put(section, key, value);
    }
  }
  return report;
}
