import type { Bytes } from '../base/bytes.js';
import type { RequestErrorData } from '../base/errors.js';
import type { ViewDefinition } from './definition.js';

/** The views of a design document that are to be brought up to date. It travels between threads. */
export interface IndexJob {
  /** The database. */
  instance: number;
  q: number;
  views: readonly ViewDefinition[];
  lib: Bytes | undefined;
  localSeq: boolean;
  includeDesign: boolean;
}

/** A view whose index could not be brought up to date, though those of its neighbours could. */
export interface FailedView {
  signature: string;
  refusal: RequestErrorData;
  /** Whether it is not worth trying again. */
  isStopped: boolean;
}

/** Told from time to time: changes that were brought into the indexes, of how many. */
export type OnProgress = (done: number, total: number) => void;

/** Isolates the functions of one database from those of others. */
export const spaceOf = (instance: number): string => String(instance);
