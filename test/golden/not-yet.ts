/** Scenarios that need what this version does not have, with what that is. */
const byReason: Readonly<Record<string, readonly string[]>> = {
  'the changes feed': [
    'purge-a-document',
    'purge-shows-in-replicated-order',
    'conflicts-in-listings',
    'local-not-counted-or-listed',
    'listing-etags',
    'head-mirrors-get',
    'jsonp-when-allowed',
    'read-changes',
  ],
  replication: ['conflict-through-real-replication', 'local-not-replicated'],
  'declarative queries': ['wrong-content-type-on-other-endpoints', 'find'],
  'the form of a purge that the written interface does not have': ['purge-is-for-server-admins'],
};

export const notYet: ReadonlyMap<string, string> = new Map(
  Object.entries(byReason).flatMap(([reason, names]) =>
    names.map((name) => [name, `needs ${reason}`] as const),
  ),
);
