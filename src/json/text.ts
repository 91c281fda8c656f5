/**
 * Strings and byte strings.
 *
 * A *byte string* is a JavaScript string whose character codes are the bytes of UTF-8 text. It is how stored text
 * travels: pieces are joined with `+`, V8 keeps one byte a character, and writing it out as latin1 is a plain copy,
 * where real strings would be encoded and decoded at every step. Plain ASCII is its own byte string.
 */
const notAscii = /[^\x00-\x7f]/;
/** With the flag `u` this matches halves of surrogate pairs only where the other half is missing. */
const loneSurrogates = /\p{Surrogate}/gu;

export function toByteString(text: string): string {
  return notAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

export function fromByteString(bytes: string): string {
  return notAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** The JSON string token of a text, as a byte string; half a surrogate pair becomes U+FFFD. */
export function quote(text: string): string {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7f || code === 0x22 || code === 0x5c) {
      return toByteString(JSON.stringify(text.replace(loneSurrogates, '\ufffd')));
    }
  }
  return `"${text}"`;
}

/** The JSON string token of the text whose UTF-8 bytes are `bytes[start, end)`, as a byte string. */
export function quoteBytes(bytes: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return quote(bytes.toString('utf8', start, end));
  }
  return `"${bytes.toString('latin1', start, end)}"`;
}

/** The text of the (scanned) string token `bytes[start, end)`; half a surrogate pair becomes U+FFFD. */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] !== 0x5c) continue;
    const text = JSON.parse(bytes.toString('utf8', start, end)) as string;
    return text.replace(loneSurrogates, '\ufffd');
  }
  return bytes.toString('utf8', start + 1, end - 1);
}
