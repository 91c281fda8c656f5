import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  toBytes,
  u48,
  u8,
  type Bytes,
} from '../base/bytes.js';
import type { CatalogueCommand, DivideCommand } from './catalogue-commands.js';

/**
 * Commands of the catalogue as bytes, for a log that carries them between nodes.
 *
 *   version(1) type(1) name(text) …
 *
 * `docs/formats/commands.md` has the rest.
 */
const version = 1;
const typeNumbers = {
  create: 1,
  delete: 2,
  set: 3,
  mark: 4,
  divide: 5,
  lease: 6,
  share: 7,
  place: 8,
} as const;

export function encodeCatalogueCommand(command: CatalogueCommand): Bytes {
  const head = asBytes(u8(version) + u8(typeNumbers[command.type]) + lengthPrefixed(toBytes(command.name)));
  switch (command.type) {
    case 'create':
      return asBytes(head + encodeSettings(command.settings));
    case 'delete':
      return head;
    case 'set':
      return asBytes(head + u48(command.instance) + encodeSettings(command.settings));
    case 'mark':
      return asBytes(head + u48(command.instance) + encodeSettings(command.marks));
    case 'lease':
      return asBytes(head + u48(command.term));
    case 'share':
      return asBytes(head + encodeSettings({ value: command.value }));
    case 'place':
      return asBytes(head + u48(command.version) + encodeSettings(command.step));
    case 'divide': {
      const { step, group, parts } = command;
      return asBytes(head + u48(command.instance) + encodeSettings({ step, group, parts }));
    }
  }
}

export function decodeCatalogueCommand(bytes: Bytes): CatalogueCommand {
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version) throw new Error(`a command has version ${found}; this server reads ${version}`);
  const command = readCommand(reader.u8(), reader);
  if (!reader.done) throw new Error('a command is damaged: it goes on behind its end');
  return command;
}

function readCommand(type: number, reader: ByteReader): CatalogueCommand {
  const name = fromBytes(readText(reader));
  switch (type) {
    case typeNumbers.create:
      return { type: 'create', name, settings: readSettings(reader) };
    case typeNumbers.delete:
      return { type: 'delete', name };
    case typeNumbers.set:
      return { type: 'set', name, instance: reader.u48(), settings: readSettings(reader) };
    case typeNumbers.mark:
      return { type: 'mark', name, instance: reader.u48(), marks: readSettings(reader) };
    case typeNumbers.lease:
      return { type: 'lease', name, term: reader.u48() };
    case typeNumbers.share:
      return { type: 'share', name, ...readSettings<{ value: string | null }>(reader) };
    case typeNumbers.place:
      return { type: 'place', name, version: reader.u48(), step: readSettings(reader) };
    case typeNumbers.divide: {
      const instance = reader.u48();
      return { type: 'divide', name, instance, ...readSettings<DivideStep>(reader) };
    }
    default:
      throw new Error(`a command is of an unknown type, ${type}`);
  }
}

type DivideStep = Pick<DivideCommand, 'step' | 'group' | 'parts'>;

const encodeSettings = (settings: object): Bytes => lengthPrefixed(toBytes(JSON.stringify(settings)));

const readSettings = <T>(reader: ByteReader): T => JSON.parse(fromBytes(readText(reader))) as T;

const readText = (reader: ByteReader): Bytes => reader.take(reader.varint());
