import type { IncomingMessage } from 'node:http';

/**
 * A header of a request, by its name in lower case. Node makes an object of all headers when the first is asked for;
 * as a read of a document looks at three, going through the list as it came is cheaper.
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i]!;
    if (each.length === name.length && each.toLowerCase() === name) return rawHeaders[i + 1];
  }
  return undefined;
}

/** All values of a header, by its name in lower case. */
export function headersOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
}
