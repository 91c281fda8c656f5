import { boolean, integer } from './options.js';

/** Resharding: how many jobs there may be, and what is asked of requests for them. */
export const reshardOptions = {
  'reshard/max_jobs': integer(
    48,
    0,
    10_000,
    'Most resharding jobs there may be, without those that have completed or failed.',
  ),
  'reshard/group_size_max': integer(
    0,
    0,
    1_000_000_000_000_000,
    'Bytes of documents above which a group is divided in two by itself; 0: none is.',
  ),
  'reshard/max_history': integer(20, 1, 1_000, 'Events that are remembered of each resharding job.'),
  'reshard/max_retries': integer(5, 0, 1_000, 'How often a resharding job that fails is tried again.'),
  'reshard/retry_interval_sec': integer(10, 0, 86_400, 'Seconds before it is tried again.'),
  'reshard/require_node_param': boolean(false, 'Refuse requests for resharding jobs that name no `node`.'),
  'reshard/require_range_param': boolean(
    false,
    'Refuse requests for resharding jobs that name no `range`, where they name no `shard`.',
  ),
};
