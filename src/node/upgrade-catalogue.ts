import { asBytes, type Bytes } from '../base/bytes.js';
import type { Store, Write } from '../storage/store.js';
import { decodeJson, encodeJson, metaKey, readMeta, type StoredDatabase } from './catalogue-commands.js';
import { nodeKey, readGenerations, readSlot, slotKey } from './catalogue-journal.js';

/** Records rewritten in one commit at most, and about how many bytes. */
const batchRecordsMax = 1_000;
const batchBytesMax = 4 * 1024 * 1024;

/**
 * Moves what belongs to the node alone out of the shared part of a catalogue of format 1: slots out of the records of
 * databases, generations out of the catalogue's own. Readers understand both forms, so it may be cut short after any
 * commit; the generations are moved last, and show that there is something left to do.
 */
export async function upgradeCatalogue(store: Store): Promise<void> {
  const { generations, ...meta } = readMeta(store);
  if (generations === undefined) return;
  for (let start: Bytes | undefined = asBytes('d'); start !== undefined;)
    start = await moveSlots(store, start);
  await store.write([
    { key: nodeKey, value: encodeJson({ generations: readGenerations(store) }) },
    { key: metaKey, value: encodeJson(meta) },
  ]).flushed;
}

/** Gives the key where the next batch begins; undefined when this was the last. */
async function moveSlots(store: Store, start: Bytes): Promise<Bytes | undefined> {
  const writes: Write[] = [];
  let bytes = 0;
  let next: Bytes | undefined;
  for (const { key, value } of store.entries({ start, end: asBytes('e') })) {
    if (writes.length >= 2 * batchRecordsMax || bytes > batchBytesMax) {
      next = key;
      break;
    }
    const record = decodeJson<StoredDatabase>(value)!;
    if (record.slot === undefined) continue;
    const slot = readSlot(store, record.instance, record);
    delete record.slot;
    writes.push({ key, value: encodeJson(record) });
    writes.push({ key: slotKey(record.instance), value: encodeJson({ slot }) });
    bytes += value.length;
  }
  if (writes.length > 0) await store.write(writes).flushed;
  return next;
}
