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
  '404 for the removal of what no database can be called: the written interface has 400': [
    'delete-missing-database',
    'name-is-not-checked-on-reads',
  ],
  'the 500 that CouchDB gives where an equality contradicts a bound (its planner has no case for it)': [
    'explain-impossible-range',
  ],
  'passwords hashed once with SHA-1, which are read and never written': ['simple-password-scheme'],
  'the limits on purges that CouchDB 3.5 has given up': [
    'purge-too-many-revisions',
    'purge-too-many-documents',
  ],
  'a database that is closed when it is new': ['revs-limit-other-requests'],
  'a revision with two parents: hashes cover the parent, so a tree here holds a revision once (src/revisions/tree.ts)':
    ['same-hash-on-other-level'],
  'a wrong length: CouchDB tells that of the packed bytes for content that came packed, though readers get it unpacked':
    ['upload-with-content-encoding-gzip'],
  'the 500 that CouchDB gives where a show is asked for a format that has no media type: it is 406 here': [
    'show-provides-by-format',
  ],
};

export const notYet: ReadonlyMap<string, string> = new Map(
  Object.entries(byReason).flatMap(([reason, names]) =>
    names.map((name) => [name, `needs ${reason}`] as const),
  ),
);
