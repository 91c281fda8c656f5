import { RequestError } from './errors.js';

/** Names and numbers of errors that say that there is no room left; LMDB has one of its own. */
const fullCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27, -30792]);

/** What else a system says when it cannot store or open a file now, through no fault of the client or of this program. */
const failureCodes: ReadonlySet<unknown> = new Set([
  'EIO',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENXIO',
  'ENODEV',
  'ESTALE',
]);

/** Something could not be stored, or not be read, because of the disk. What was refused is not stored. */
export class StorageError extends RequestError {
  constructor(error: 'insufficient_storage' | 'service_unavailable', reason: string, cause: unknown) {
    super(error, reason);
    this.name = 'StorageError';
    this.cause = cause;
  }
}

/** The refusal that an error of the disk amounts to; undefined for any other error. */
export function storageRefusal(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (fullCodes.has(code)) return diskFull(error);
  if (failureCodes.has(code)) return diskFailed(error, String(code));
  // What LMDB says of an environment whose meta page could not be written, until that is opened again.
  return error instanceof Error && error.message.includes('MDB_PANIC') ? diskFailed(error, 'EIO') : undefined;
}

/** The refusal for a commit that the store below did not carry out, whatever it says about it. */
export const failedCommit = (error: unknown): StorageError =>
  storageRefusal(error) ?? diskFailed(error, error instanceof Error ? error.message : String(error));

const diskFull = (cause: unknown): StorageError =>
  new StorageError('insufficient_storage', 'The disk of the server is full; nothing was stored.', cause);

const diskFailed = (cause: unknown, what: string): StorageError =>
  new StorageError('service_unavailable', `The disk of the server failed (${what}).`, cause);
