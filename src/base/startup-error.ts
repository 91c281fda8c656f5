/**
 * Why the server can't start: one clear line for the person who typed the command, without a stack trace. Thrown for
 * what its user can mend (a port in use, a folder that can't be written or is locked, data of a newer version).
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
  }
}
