import { createHmac } from 'node:crypto';

/** How one-time passwords are made. */
export interface TokenSettings {
  key: Buffer;
  /** As Node calls it. */
  digest: string;
  /** Digits of a token. */
  length: number;
}

/** The one-time password of a number (RFC 4226): some digits of its HMAC. */
export function tokenOf({ key, digest, length }: TokenSettings, count: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.max(0, count)));
  const mac = createHmac(digest, key).update(bytes).digest();
  const code = mac.readUInt32BE(mac.at(-1)! & 0x0f) & 0x7fffffff;
  return String(code % 10 ** length).padStart(length, '0');
}
