import { authOptions, chttpdAuthOptions, couchdbAuthOptions } from './auth-options.js';
import { chttpdEdgeOptions, edgeOptions } from './edge-options.js';
import {
  boolean,
  checked,
  choice,
  formed,
  integer,
  limit,
  text,
  type BooleanOption,
  type IntegerOption,
  type Option,
  type TextOption,
} from './options.js';
import { clusterOptions } from './cluster-options.js';
import { compactionOptions } from './compaction-options.js';
import { isAddress } from './text-checks.js';
import { indexOptions } from './index-options.js';
import { logOptions } from './log-options.js';
import { replicatorOptions } from './replicator-options.js';
import { reshardOptions } from './reshard-options.js';
import { trafficOptions } from './traffic-options.js';
import { autoPurgeOptions, timeSeqOptions, upkeepOptions } from './upkeep-options.js';
import { userDatabaseOptions } from './user-database-options.js';

const millions = 1_000_000;

/**
 * Every option the server reads: its name (`section/key`), type, default, bounds and meaning. The names are CouchDB's
 * wherever CouchDB has the option; what is this server's own stands in `[tuffet]`. `docs/configuration.md` lists the
 * same options, and a test holds the two together. Options that are not listed here may still be set: clients and
 * scripts keep values of their own in the configuration.
 */
export const schema = {
  'couchdb/max_document_size': limit(
    8 * millions,
    1,
    'Largest document body, in bytes, without attachments.',
  ),
  'couchdb/max_document_id_length': limit(
    16_384,
    1,
    'Longest document id, in bytes. Longer ones may not fit into the address of a request.',
  ),
  'couchdb/max_attachment_size': limit(1_073_741_824, 1, 'Largest attachment, in bytes.'),
  'couchdb/max_partition_size': limit(
    10_737_418_240,
    1,
    'Size of a partition, in bytes of JSON text and attachments, above which it takes no more.',
  ),
  'couchdb/os_process_timeout': integer(
    5_000,
    100,
    3_600_000,
    'Milliseconds that one call of a function in a design document may take.',
  ),
  'couchdb/default_security': choice(
    'everyone',
    ['everyone', 'admin_local', 'admin_only'],
    'Who may use a database whose security object was never set. `admin_local` closes only the port of a single ' +
      'node, which this server does not have, and so means `everyone`.',
  ),
  ...couchdbAuthOptions,
  'couchdb/uuid': formed(
    '',
    /^[0-9a-f]{32}$/,
    '32 hexadecimal digits',
    'The id of the server that `GET /` shows; empty for the one of the data folder. Read at start.',
  ),
  'couchdb/maintenance_mode': choice(
    'false',
    ['false', 'true', 'nolb'],
    '`true` or `nolb`: `/_up` answers 404, so that a load balancer turns elsewhere.',
  ),
  ...timeSeqOptions,
  ...clusterOptions,
  'cluster/q': integer(8, 1, 256, 'Shards of a new database.'),
  'cluster/n': integer(
    1,
    1,
    3,
    'Copies of a new database that are wanted. It changes nothing: a server keeps one, and in a cluster every node keeps one; `/_cluster_setup` of a server by itself tells of it.',
  ),
  'chttpd/port': integer(5984, 0, 65_535, 'Port to listen on; 0 takes a free one. Read at start.'),
  'chttpd/bind_address': checked(
    '127.0.0.1',
    isAddress,
    'an IP address, localhost or a full host name',
    'Address to listen on; `0.0.0.0` or `::` for all. Read at start.',
  ),
  'chttpd/max_db_number_for_dbs_info_req': integer(100, 0, millions, 'Most names in one `POST /_dbs_info`.'),
  'chttpd/max_http_request_size': limit(4_294_967_296, 1, 'Largest request body, in bytes.'),
  'chttpd/require_valid_user': boolean(false, 'Refuse anonymous requests.'),
  'chttpd/require_valid_user_except_for_up': boolean(false, 'Refuse anonymous requests except to `/_up`.'),
  'chttpd/admin_only_all_dbs': boolean(true, 'Only server admins may list databases.'),
  'chttpd/decode_plus_to_space': boolean(true, 'Whether a bare `+` in a path is a space.'),
  'chttpd/backlog': integer(
    512,
    1,
    65_535,
    'Connections that wait to be accepted, before the system refuses further ones. Read at start.',
  ),
  'chttpd/max_uri_length': limit(Infinity, 1, 'Longest address of a request, in bytes; beyond it 414.'),
  ...chttpdEdgeOptions,
  ...chttpdAuthOptions,
  'chttpd/changes_timeout': integer(
    60_000,
    1,
    24 * 3_600_000,
    'Milliseconds after which a feed without changes ends, and the longest time between heartbeats.',
  ),
  'chttpd/changes_doc_ids_optimization_threshold': integer(
    10_000,
    0,
    millions,
    'Most documents that the filter `_doc_ids` looks up one by one; longer lists are compared with every change.',
  ),
  ...authOptions,
  'purge/max_document_id_number': limit(Infinity, 1, 'Most documents in one `_purge`.'),
  'purge/max_revisions_number': limit(Infinity, 1, 'Most revisions in one `_purge`.'),
  'mango/default_limit': integer(
    25,
    0,
    1000 * millions,
    'Documents in an answer of `_find` that names no `limit`.',
  ),
  'mango/index_all_disabled': choice(
    'false',
    ['true', 'false', 'warn'],
    'Whether new text indexes of all fields are refused; `warn` makes them a line in the log.',
  ),
  'mango/index_scan_warning_threshold': integer(
    10,
    0,
    1000 * millions,
    'Documents looked at for each one found above which `_find` adds a warning; 0 for none.',
  ),
  'query_server_config/query_limit': limit(
    Infinity,
    1,
    'Most rows in an answer of a view or a listing; a larger `limit` is refused.',
  ),
  'query_server_config/partition_query_limit': limit(Infinity, 1, 'The same for those of one partition.'),
  'query_server_config/reduce_limit': choice(
    'true',
    ['true', 'false', 'log'],
    'Whether a reduce function must give less than it is given: `true` makes it an error if not, `log` a line in the log.',
  ),
  'uuids/algorithm': choice(
    'sequential',
    ['random', 'sequential', 'utc_random', 'utc_id', 'uuid_v7', 'uuid_v4'],
    'How ids are made, for `/_uuids` and for documents that come without one.',
  ),
  'uuids/format': choice(
    'base_16',
    ['base_16', 'base_36', 'rfc9562'],
    'How ids made with `uuid_v7` and `uuid_v4` are written: 32 hexadecimal digits, 25 letters and digits, or with hyphens.',
  ),
  'uuids/utc_id_suffix': text('', 'Ending of ids made with `utc_id`; each server needs its own.'),
  'uuids/max_count': integer(1000, 0, millions, 'Most ids in one `/_uuids`.'),
  'attachments/compression_level': integer(
    8,
    0,
    9,
    'Effort of gzip on attachments; 0 stores them as they come.',
  ),
  'attachments/compressible_types': text(
    'text/*, application/javascript, application/json, application/xml',
    'Types of attachments that are stored compressed, separated by commas.',
  ),
  'global_changes/max_write_delay': integer(
    250,
    1,
    60_000,
    'Milliseconds for which events of databases are gathered before they are written to `_global_changes`.',
  ),
  ...logOptions,
  'vendor/name': text('tuffet', 'The vendor that `GET /` names.'),
  'vendor/version': text('', 'The vendor version that `GET /` shows; empty for the version of the server.'),
  'tuffet/record_cache_bytes': integer(
    64 * millions,
    0,
    100_000 * millions,
    'Bytes of recently read records that are kept in memory, for all volumes together. Read at start.',
  ),
  'tuffet/volume_bytes': integer(
    4_000 * millions,
    10_000,
    1_000_000 * millions,
    'Bytes of the newest volume from which on new databases, and groups that come of a division, go into another.',
  ),
  ...compactionOptions,
  ...upkeepOptions,
  'tuffet/bulk_docs_max': integer(100_000, 1, 100 * millions, 'Most documents in one bulk request.'),
  'tuffet/auto_setup': boolean(
    true,
    'Make the databases `_users`, `_replicator` and `_global_changes` when a data folder is first used.',
  ),
  'tuffet/batch_save_size': integer(
    1000,
    1,
    millions,
    'Documents of `batch=ok` kept in memory before they are saved.',
  ),
  'tuffet/batch_save_interval_ms': integer(
    100,
    1,
    3_600_000,
    'Milliseconds after which waiting documents of `batch=ok` are saved.',
  ),
  'tuffet/header_bytes_max': integer(
    65_536,
    8_192,
    millions,
    'Longest request line and headers together, in bytes; beyond it 431, or 414. Read at start.',
  ),
  'tuffet/headers_max': integer(256, 16, 10_000, 'Most headers of a request; beyond it 431. Read at start.'),
  'tuffet/headers_timeout_ms': integer(
    60_000,
    100,
    3_600_000,
    'Milliseconds that a client has for a TLS handshake, and then for the headers of each request. Read at start.',
  ),
  'tuffet/idle_timeout_ms': integer(
    65_000,
    100,
    3_600_000,
    'Milliseconds after which a connection without requests is closed. Read at start.',
  ),
  'tuffet/connections_max': limit(
    50_000,
    1,
    'Most open connections, for each port; further ones are closed at once. Read at start.',
  ),
  'tuffet/streams_max': integer(
    128,
    1,
    10_000,
    'Most requests under way at once on one HTTP/2 connection. Read at start.',
  ),
  'tuffet/replication_backoff_ms': integer(
    30_000,
    10,
    86_400_000,
    'Milliseconds after which a replication that failed is tried again; after each further failure, twice as long, up to eight hours.',
  ),
  ...indexOptions,
  ...trafficOptions,
  ...edgeOptions,
  ...replicatorOptions,
  ...autoPurgeOptions,
  ...userDatabaseOptions,
  ...reshardOptions,
} satisfies Record<string, Option>;

/** Sections whose keys are names that the user chooses. */
export const openSections = {
  admins: 'Server admins: the key is the name, the value the hash of the password.',
  jwt_keys:
    'Keys that JSON Web Tokens are signed with: the key is `hmac:`, `rsa:`, `ec:` or `eddsa:` and the `kid`.',
} as const;

type Schema = typeof schema;
type NamesOf<Type> = { [Name in keyof Schema]: Schema[Name] extends Type ? Name : never }[keyof Schema];

export type OptionName = keyof Schema;
export type IntegerName = NamesOf<IntegerOption>;
export type BooleanName = NamesOf<BooleanOption>;
export type ChoiceName = NamesOf<{ type: 'choice' }>;
export type TextName = NamesOf<TextOption>;
export type ChoiceOf<Name extends ChoiceName> = Schema[Name]['choices'][number];
