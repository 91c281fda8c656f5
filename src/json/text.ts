/** With the flag `u` this matches halves of surrogate pairs only where the other half is missing. */
const loneSurrogates = /\p{Surrogate}/gu;

/** The text of the (scanned) string token `bytes[start, end)`; half a surrogate pair becomes U+FFFD. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] !== 0x5c) continue;
    const text = JSON.parse(bytes.toString('utf8', start, end)) as string;
    return text.replace(loneSurrogates, '\ufffd');
  }
  return bytes.toString('utf8', start + 1, end - 1);
}
