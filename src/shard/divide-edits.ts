import { commandBytesMax } from '../log/log.js';
import type { Edit, EditCommand } from './commands.js';
import { attachmentsOf, hasAttachments } from './content.js';

/** Edits of one command that are applied together at most. */
const editsAtOnce = 1_000;
/** What the head of a command, an edit and a revision of a history take at most, about. */
const headBytes = 200;
const editHeadBytes = 60;
const revBytes = 40;

/** The edits, from a place on, that fit into one command: at least one, however large it is. */
export function takeEdits(command: EditCommand, from: number): Edit[] {
  const { edits } = command;
  const end = Math.min(edits.length, from + editsAtOnce);
  let to = from;
  for (let bytes = headBytes; to < end; to++) {
    bytes += bytesOf(edits[to]!, command);
    if (bytes > commandBytesMax && to > from) break;
  }
  return edits.slice(from, to);
}

/** A command as several, each of which has as many edits as one may have. */
export function divideEdits(command: EditCommand): EditCommand[] {
  const parts: EditCommand[] = [];
  for (let from = 0; from < command.edits.length;) {
    const edits = takeEdits(command, from);
    parts.push(onlyBlobsOf(command, edits));
    from += edits.length;
  }
  return parts;
}

/** What an edit takes in a command, with the small blobs that it names, or somewhat more. */
function bytesOf({ id, path, body }: Edit, { small_blobs, stored_blobs }: EditCommand): number {
  let bytes = editHeadBytes + id.length + body.length;
  if (path !== undefined) for (const hash of path.hashes) bytes += Math.max(revBytes, 3 * hash.length);
  if ((small_blobs === undefined && stored_blobs === undefined) || !hasAttachments(body)) return bytes;
  for (const { blob } of attachmentsOf(body))
    bytes += 2 * blob.length + (small_blobs?.get(blob)?.length ?? 0);
  return bytes;
}

/** The command with some of its edits, and with those of its blobs that they name. */
export function onlyBlobsOf(command: EditCommand, edits: Edit[]): EditCommand {
  const { small_blobs, stored_blobs, ...others } = command;
  if (small_blobs === undefined && stored_blobs === undefined) return { ...command, edits };
  const named = new Set(edits.flatMap(({ body }) => attachmentsOf(body).map(({ blob }) => blob)));
  const small = [...(small_blobs ?? [])].filter(([blob]) => named.has(blob));
  const stored = [...(stored_blobs ?? [])].filter((blob) => named.has(blob));
  return {
    ...others,
    edits,
    ...(small.length > 0 && { small_blobs: new Map(small) }),
    ...(stored.length > 0 && { stored_blobs: new Set(stored) }),
  };
}
