/**
 * Options that CouchDB 3 has and this server has no use for, so that who brings a file from there is told so, and not
 * that they are unknown. A star stands for any key. What `schema.ts` has counts first.
 */
const byCouchdb: Readonly<Record<string, string>> = {
  aegis: '*',
  attachments: '',
  chttpd:
    'authentication_handlers buffer_response bulk_get_use_batches changes_timeout docroot prefer_minimal rewrite_limit ' +
    'secure_rewrites server_options socket_options WWW-Authenticate',
  chttpd_auth:
    'allow_persistent_cookies authentication_db authentication_redirect cookie_domain hash_algorithms password_regexp ' +
    'pbkdf2_prf proxy_use_secret public_fields same_site secret timeout users_db_public ' +
    'users_db_suffix x_auth_roles x_auth_token x_auth_username',
  chttpd_auth_cache: '*',
  chttpd_auth_lockout: '*',
  cluster: 'placement r reconnect_interval_sec seedlist w',
  compaction_daemon: '*',
  compactions: '*',
  couch_auth_lockout: '*',
  couch_httpd_auth: '*',
  couch_peruser: '*',
  couchdb:
    'attachment_stream_buffer_size btree_chunk_size changes_doc_ids_optimization_threshold checkpoint_after database_dir ' +
    'default_engine delayed_commits doc_buffer_size enable_database_recovery file_compression fsync_options js_engine ' +
    'max_bulk_docs_count max_bulk_get_count max_database_name_length max_dbs_open max_partition_size os_process_timeout ' +
    'plugin_dir single_node stem_interactive_updates update_lru_on_read uri_file users_db_security_editable ' +
    'users_db_suffix util_driver_dir uuid view_index_dir write_xxhash_checksums',
  couchdb_engines: '*',
  csp: 'showlist_enable showlist_header_value',
  custodian: '*',
  daemons: '*',
  database_compaction: '*',
  ddoc_cache: '*',
  disk_monitor: '*',
  dreyfus: '*',
  external: '*',
  fabric: '*',
  feature_flags: '*',
  features: '*',
  global_changes: '*',
  httpd: '*',
  httpd_db_handlers: '*',
  httpd_design_handlers: '*',
  httpd_global_handlers: '*',
  indexers: '*',
  ioq: '*',
  'ioq.bypass': '*',
  jwt_auth: 'required_claims roles_claim_name roles_claim_path',
  jwt_keys: '*',
  ken: '*',
  'ken.ignore': '*',
  log:
    'facility file include_sasl max_message_size report_dedupe report_level strip_last_msg syslog_appid syslog_enterprise ' +
    'syslog_facility syslog_host syslog_port write_buffer write_delay writer',
  mango: 'default_limit index_all_disabled index_scan_warning_threshold',
  mem3: '*',
  'mem3.shards_db': '*',
  native_query_servers: '*',
  nouveau: '*',
  os_daemons: '*',
  process_priority: '*',
  prometheus: '*',
  purge: 'index_lag_warn_seconds allowed_purge_time_lag',
  quickjs: '*',
  query_server_config:
    'commit_freq group_info_timeout os_process_idle_limit os_process_limit os_process_soft_limit partition_query_limit ' +
    'query_limit reduce_limit view_timeout',
  query_servers: '*',
  rexi: '*',
  replicator:
    'auth_plugins checkpoint_interval cert_file ciphers cluster_quiet_period cluster_start_period connection_timeout ' +
    'db http_connections interval key_file max_acceptors max_churn max_document_id_length max_history max_jobs ' +
    'password priority_coeff retries_per_request session_refresh_interval_sec socket_options ' +
    'ssl_certificate_max_depth ssl_trusted_certificates_file startup_jitter stats_update_interval_sec update_docs ' +
    'use_bulk_get use_checkpoints usage_coeff valid_endpoint_protocols valid_proxy_protocols valid_socket_options ' +
    'verify_ssl_certificates verify_ssl_certificates_log worker_batch_size worker_processes',
  'replicator.shares': '*',
  reshard:
    'index_max_retries index_retry_interval_sec max_history max_jobs max_retries require_node_param ' +
    'require_range_param retry_interval_sec shard_upate_timeout_msec source_close_timeout_sec store_state ' +
    'update_shardmap_timeout_sec',
  scanner: '*',
  smoosh: '*',
  ssl: 'secure_renegotiate ssl_certificate_max_depth',
  stats: 'interval',
  svc_httpd_auth: '*',
  tracing: '*',
  update_notification: '*',
  uuids: '',
  vendor: 'git_sha',
  vhosts: '*',
  view_compaction: '*',
  view_updater: '*',
  x_frame_options: 'hosts same_origin',
};

const keysBySection = new Map(
  Object.entries(byCouchdb).map(([section, keys]) => [section, new Set(keys.split(' ').filter(Boolean))]),
);

/** Whether CouchDB has an option of this name. Sections of a kind, such as `[smoosh.ratio_dbs]`, share their first word. */
export function isCouchdbOption(section: string, key: string): boolean {
  const keys = keysBySection.get(section) ?? keysBySection.get(section.split('.')[0]!);
  return keys !== undefined && (keys.has('*') || keys.has(key));
}

export const couchdbSections: readonly string[] = [...keysBySection.keys()];

/** The keys of a section that are known by name. */
export function couchdbKeys(section: string): string[] {
  return [...(keysBySection.get(section) ?? [])].filter((key) => key !== '*');
}
