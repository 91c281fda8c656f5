import { asBytes, type Bytes } from '../base/bytes.js';
import { scanBulk } from './scan.js';

/** The members of an object's text, each as it stands there: `"name":value`. */
export function membersOf(object: Bytes): { name: string; text: Bytes }[] {
  const bytes = Buffer.from(object, 'latin1');
  const scanned = scanBulk(bytes, '');
  if (scanned === undefined) throw new Error('the text holds no object');
  return scanned.members.map(({ name, keyStart, keyEnd, valueStart, valueEnd }) => ({
    name,
    text: asBytes(`${bytes.latin1Slice(keyStart, keyEnd)}:${bytes.latin1Slice(valueStart, valueEnd)}`),
  }));
}

/** An object of these members. */
export const objectOf = (members: readonly Bytes[]): Bytes => asBytes(`{${members.join(',')}}`);
