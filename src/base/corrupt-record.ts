/** A stored record is lost, or is not what this server writes. */
export class CorruptRecord extends Error {
  constructor(
    what: string,
    /** Where the record is stored, if the store itself has found the damage. */
    readonly key?: string,
  ) {
    super(`a stored record is damaged: ${what}`);
    this.name = 'CorruptRecord';
  }
}
