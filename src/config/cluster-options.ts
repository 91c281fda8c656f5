import { boolean, choice, integer, text } from './options.js';

/** Several nodes: `docs/cluster.md`. */
export const clusterOptions = {
  'cluster/nats': text(
    '',
    'Addresses of NATS servers, separated by commas. Empty: this server is on its own. Read at start.',
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
