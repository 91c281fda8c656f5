/** The text of the (scanned) string token `bytes[start, end)`. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] !== 0x5c) continue;
    return JSON.parse(bytes.toString('utf8', start, end)) as string;
  }
  return bytes.toString('utf8', start + 1, end - 1);
}
