import { asBytes, ByteReader, u8, varint, type Bytes } from '../../base/bytes.js';

/** All that is needed to read or change a tree. The caller commits the new state together with the writes of an update. */
export interface TreeState {
  /** The id of the root; 0 while the tree is empty. */
  readonly root: number;
  /** Levels of nodes; 0 while the tree is empty. */
  readonly height: number;
  /** Rows. */
  readonly count: number;
  /** The id of the next node or value; ids are never used again. */
  readonly nextId: number;
  /** Bytes of nodes and of values that stand beside them. */
  readonly bytes: number;
}

const stateVersion = 1;

export const emptyTree: TreeState = { root: 0, height: 0, count: 0, nextId: 1, bytes: 0 };

export function encodeTreeState({ root, height, count, nextId, bytes }: TreeState): Bytes {
  return asBytes(
    u8(stateVersion) + varint(root) + varint(height) + varint(count) + varint(nextId) + varint(bytes),
  );
}

export function decodeTreeState(record: Bytes): TreeState {
  const reader = new ByteReader(record);
  const version = reader.u8();
  if (version !== stateVersion)
    throw new Error(`the state of a view's tree has the unknown version ${version}`);
  const [root, height, count, nextId, bytes] = [
    reader.varint(),
    reader.varint(),
    reader.varint(),
    reader.varint(),
    reader.varint(),
  ];
  if (!reader.done) throw new Error("the state of a view's tree is damaged: it is too long");
  return { root, height, count, nextId, bytes };
}
