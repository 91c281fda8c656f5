import { ApiError } from '../api/http.js';

/** What somebody can do about an error, by its name and then by its status. */
const byName: Record<string, string> = {
  unreachable: 'Check that the server runs and that the network reaches it, then try again.',
  conflict: 'Somebody saved a newer revision. Load it, apply your change to it and save again.',
  file_exists: 'Choose another name, or open the one that is there.',
  illegal_database_name:
    'Names begin with a lower-case letter; then lower-case letters, digits and _ $ ( ) + / - may follow.',
  illegal_docid: 'In a partitioned database an id is written partition:name.',
  illegal_partition: 'A partition does not begin with an underscore and is not empty.',
  missing_stub: 'An attachment that the text names is no longer stored. Remove it from _attachments.',
  no_usable_index: 'Create an index on the fields that the query sorts by.',
  compilation_error: 'Correct the function; the reason says where.',
  not_implemented: 'This server does not have this function yet.',
};

const byStatus: Record<number, string> = {
  400: 'Correct what the reason names, then try again.',
  401: 'Log in as somebody who may do this.',
  403: 'You are logged in, but may not do this. Ask an admin of the server or of the database.',
  404: 'It may have been deleted. Go back to the list and look again.',
  412: 'Reload and look at what is there now.',
  413: 'It is larger than the server takes. The limits are options of the configuration.',
  429: 'The server is busy. Try again in a moment.',
  500: 'The log of the server has the details.',
  503: 'The server is busy, or lacks this function. Try again in a moment.',
};

export function describeError(error: unknown): {
  title: string;
  reason: string;
  advice: string;
  request?: string;
} {
  if (!(error instanceof ApiError)) {
    return { title: 'error', reason: (error as Error)?.message ?? String(error), advice: '' };
  }
  const { error: title, reason, status, request } = error;
  return { title, reason, advice: byName[title] ?? byStatus[status] ?? '', request };
}
