import { boolean, formed, integer, text } from './options.js';

const millions = 1_000_000;

/** Replication: how much runs at once, how it is cut up, and how other servers are reached. */
export const replicatorOptions = {
  'replicator/max_jobs': integer(500, 0, millions, 'Replications that run at once; the others take turns.'),
  'replicator/interval': integer(
    60_000,
    10,
    86_400_000,
    'Milliseconds after which replications that wait take the place of some that run.',
  ),
  'replicator/max_churn': integer(
    20,
    1,
    millions,
    'Most replications that are started, or stopped for others, at the end of an interval.',
  ),
  'replicator/startup_jitter': integer(
    0,
    0,
    3_600_000,
    'Most milliseconds, chosen at random, that a replication of a document waits before each start. CouchDB has 5000 here.',
  ),
  'replicator/max_history': integer(20, 1, 1_000, 'Events that are remembered of each replication.'),
  'replicator/update_docs': boolean(
    false,
    'Write also the passing states `triggered` and `error` into documents, not only `completed` and `failed`.',
  ),
  'replicator/worker_batch_size': integer(500, 1, 10_000, 'Changes that are worked on together.'),
  'replicator/worker_processes': integer(4, 1, 64, 'Batches of one replication that are worked on at once.'),
  'replicator/http_connections': integer(20, 1, 1_000, 'Most connections of one replication to each server.'),
  'replicator/connection_timeout': integer(
    30_000,
    100,
    3_600_000,
    'Milliseconds after which a server that says nothing is given up.',
  ),
  'replicator/retries_per_request': integer(
    5,
    0,
    100,
    'How often a request is tried again, after 250 ms and then twice as long each time, before its replication fails.',
  ),
  'replicator/use_checkpoints': boolean(
    true,
    'Note in both databases how far a replication has come, so that it can go on from there.',
  ),
  'replicator/checkpoint_interval': integer(
    30_000,
    10,
    86_400_000,
    'Milliseconds between two such notes while a replication runs.',
  ),
  'replicator/use_bulk_get': boolean(true, 'Read many documents with one request from servers that can.'),
  'replicator/verify_ssl_certificates': boolean(
    true,
    'Refuse servers whose certificate is not signed by a trusted authority. CouchDB has `false` here.',
  ),
  'replicator/ssl_trusted_certificates_file': text(
    '',
    'File with the certificates, in PEM form, of those who may vouch for servers; empty for those that Node.js knows. ' +
      "Can't be changed over the API.",
  ),
  'replicator/cert_file': text(
    '',
    "File with the certificate that this server shows to others, in PEM form. Can't be changed over the API.",
  ),
  'replicator/key_file': text(
    '',
    "File with the private key that belongs to it, in PEM form. Can't be changed over the API.",
  ),
  'replicator/password': text('', 'Password of that key.'),
  'replicator/valid_endpoint_protocols': formed(
    'http,https',
    /^(?:https?)(?:\s*,\s*https?)*$/,
    '`http`, `https` or both',
    'Protocols by which databases may be reached.',
  ),
  'replicator/valid_proxy_protocols': formed(
    'http,https,socks5',
    /^(?:https?|socks5)(?:\s*,\s*(?:https?|socks5))*$/,
    'some of `http`, `https` and `socks5`',
    'Protocols by which proxies may be reached.',
  ),
};
