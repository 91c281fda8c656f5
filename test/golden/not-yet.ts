/** Scenarios that need what this version does not have, with what that is. */
const byReason: Readonly<Record<string, readonly string[]>> = {
  'databases that are closed when they are new: default-security.test.ts plays these on a server that has them':
    ['replicate-target-refuses-by-validation', 'replicate-wrong-credentials-in-url'],
  'the form of a purge that the written interface does not have': ['purge-is-for-server-admins'],
  'rules for passwords that cannot be read: they are refused when they are set': [
    'password-rules-badly-configured',
  ],
  'ordinary names in ensure_dbs_exist to be passed over: the written interface requires all of them': [
    'cluster-setup-state-of-a-finished-single-node',
  ],
  'the 500 that CouchDB gives where conditions contradict each other': ['explain-impossible-range'],
};

export const notYet: ReadonlyMap<string, string> = new Map(
  Object.entries(byReason).flatMap(([reason, names]) =>
    names.map((name) => [name, `needs ${reason}`] as const),
  ),
);
