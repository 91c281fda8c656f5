/** Scenarios that need what this version does not have, with what that is. */
const byReason: Readonly<Record<string, readonly string[]>> = {
  replication: [
    'conflict-through-real-replication',
    'local-not-replicated',
    'partition-changes-and-replication',
  ],
  sessions: [
    'admin-with-ready-made-pbkdf2-hash',
    'admin-with-ready-made-pbkdf2-sha256-hash',
    'new-admin-has-admin-rights',
    'session-and-uuid-head-requests',
    'jsonp-is-off-by-default',
    'cors-does-not-replace-authorization',
  ],
  'user accounts': [
    'find-permissions',
    'find-users-database',
    'index-database-admin-may-create',
    'validate-user-context',
    'admin-wins-over-user-document-of-the-same-name',
    'create-needs-server-admin',
    'users-database-security-is-locked',
    'users-database-security-editable-by-config',
    'system-database-creation-and-deletion-need-admin',
    'active-tasks-need-server-admin',
    'node-endpoints-refuse-anonymous-and-plain-users',
  ],
  'system databases': ['all-dbs-contains-the-system-databases'],
  'the 500 that CouchDB gives where conditions contradict each other': ['explain-impossible-range'],
  'cluster setup': ['cluster-setup-state-of-a-finished-single-node', 'cluster-setup-state'],
};

export const notYet: ReadonlyMap<string, string> = new Map(
  Object.entries(byReason).flatMap(([reason, names]) =>
    names.map((name) => [name, `needs ${reason}`] as const),
  ),
);
