/** Thrown where a worker cannot answer by itself: the request is passed on. */
export class NotHere extends Error {
  constructor() {
    super('This is answered by the owner of the data folder.');
  }
}
