import { schema } from './schema.js';

/**
 * Where CouchDB's earlier versions kept options, which files and scripts of those days still use. An option is found
 * under its older names too, unless it is set under its current one.
 */
const movedSections = new Map([
  ['httpd', 'chttpd'],
  ['couch_httpd_auth', 'chttpd_auth'],
  ['svc_httpd_auth', 'chttpd_auth'],
]);

const movedOptions = new Map([
  ['couch_httpd_auth/require_valid_user', 'chttpd/require_valid_user'],
  ['svc_httpd_auth/require_valid_user', 'chttpd/require_valid_user'],
  ['chttpd_auth/require_valid_user', 'chttpd/require_valid_user'],
  ['couchdb/users_db_suffix', 'chttpd_auth/users_db_suffix'],
  ['couchdb/users_db_public', 'chttpd_auth/users_db_public'],
  ['httpd/max_attachment_size', 'couchdb/max_attachment_size'],
  ['httpd/max_document_size', 'couchdb/max_document_size'],
  ['query_server_config/os_process_timeout', 'couchdb/os_process_timeout'],
  ['csp/enable', 'csp/utils_enable'],
  ['csp/header_value', 'csp/utils_header_value'],
]);

/** These name the port of a single node that CouchDB has beside the one for clients, and not the latter. */
const ofAnotherPort = new Set(['httpd/port', 'httpd/bind_address', 'httpd/backlog']);

type Name = [section: string, key: string];

const known = new Set(Object.keys(schema));

/** The name that an option under an older name has today; undefined where it has none. */
export function newerName(section: string, key: string): Name | undefined {
  const name = `${section}/${key}`;
  if (known.has(name) || ofAnotherPort.has(name)) return undefined;
  const moved = movedOptions.get(name) ?? `${movedSections.get(section) ?? ''}/${key}`;
  return known.has(moved) ? splitName(moved) : undefined;
}

const olderByName = new Map<string, Name[]>();
for (const name of known) {
  const [section, key] = splitName(name);
  const candidates = [
    ...[...movedSections].filter(([, newer]) => newer === section).map(([older]): Name => [older, key]),
    ...[...movedOptions].filter(([, newer]) => newer === name).map(([older]) => splitName(older)),
  ];
  const names = candidates.filter((older) => newerName(...older)?.join('/') === name);
  if (names.length > 0) olderByName.set(name, names);
}

export function olderNames(section: string, key: string): readonly Name[] {
  return olderByName.get(`${section}/${key}`) ?? [];
}

export function splitName(name: string): Name {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}
