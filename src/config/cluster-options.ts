import { boolean, choice, integer, text } from './options.js';

/** Several nodes: `docs/cluster.md`. */
export const clusterOptions = {
  'cluster/nats': text(
    '',
    'Addresses of NATS servers, separated by commas. Empty: this server is on its own. Read at start.',
  ),
  'cluster/nats_user': text('', 'Name that the node logs in to the NATS servers with. Read at start.'),
  'cluster/nats_password': text('', 'Its password. Read at start.'),
  'cluster/nats_token': text('', 'Token that the node logs in to the NATS servers with. Read at start.'),
  'cluster/nats_credentials_file': text(
    '',
    'Credentials file for the NATS servers, with a token and its key, as `nsc` writes it. Read at start.',
  ),
  'cluster/nats_ca_file': text(
    '',
    'PEM file of the authority that has signed the certificates of the NATS servers. Read at start.',
  ),
  'cluster/nats_cert_file': text(
    '',
    'PEM file of the certificate that the node shows to the NATS servers. Read at start.',
  ),
  'cluster/nats_key_file': text('', 'PEM file of its private key. Read at start.'),
  'cluster/nats_monitoring': text(
    '',
    'Addresses of the monitoring ports of the NATS servers, separated by commas: whether each message is flushed to disk is asked there. Empty: port 8222 of each server. Read at start.',
  ),
  'cluster/node_name': text('', 'Name of this node, different from those of the others. Read at start.'),
  'cluster/advertise': text('', 'Address at which the other nodes reach this one. Read at start.'),
  'cluster/name': text('tuffet', 'Name of the cluster, which its streams begin with. Read at start.'),
  'cluster/secret': text('', 'Secret that all nodes of the cluster have in common. Read at start.'),
  'cluster/streams': integer(
    16,
    1,
    1_000,
    'Streams that databases are distributed over; the same on all nodes, and never changed. Read at start.',
  ),
  'cluster/replicas': integer(1, 1, 5, 'NATS servers that keep a copy of each stream, when it is created.'),
  'cluster/hosts': integer(
    3,
    1,
    100,
    'Nodes that `tuffet cluster rebalance` lets host a stream, where there are more.',
  ),
  'cluster/reads': choice(
    'local',
    ['local', 'fresh'],
    '`fresh`: every request sees all that was acknowledged before it, on any node.',
  ),
  'cluster/write_timeout_ms': integer(
    30_000,
    100,
    600_000,
    'Milliseconds that a write waits for the log; then the answer is 503.',
  ),
  'cluster/copies_timeout_ms': integer(
    5_000,
    1,
    600_000,
    'Milliseconds that a write which asks for several copies by `w` waits for them, once it is saved; then the answer is 202.',
  ),
  'cluster/forward_timeout_ms': integer(
    30_000,
    100,
    600_000,
    'Milliseconds that another node may take to begin its answer to a request that is forwarded to it; then the answer is 503.',
  ),
  'cluster/absent_ms': integer(
    86_400_000,
    1_000,
    31_536_000_000,
    'Milliseconds after which messages are no longer kept for a node of which nothing was heard; when it is back, it copies the databases of another one.',
  ),
  'cluster/trim_messages': integer(
    1_000,
    1,
    1_000_000_000,
    'Messages that all nodes have applied before these are removed from a stream.',
  ),
  'cluster/allow_unsafe_log': boolean(
    false,
    'Accept NATS servers that do not flush each message to disk: for tests. Read at start.',
  ),
};
