import { isUtf8 } from 'node:buffer';
import { asBytes, fromBytes } from './bytes.js';

/** Node reads headers as latin1; what is UTF-8 is meant as such. */
export const headerText = (header: string): string =>
  isUtf8(Buffer.from(header, 'latin1')) ? fromBytes(asBytes(header)) : header;
