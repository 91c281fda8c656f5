import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the build puts the admin page: `dist/admin`. */
const builtIn = fileURLToPath(new URL('../../../admin/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.eot': 'application/vnd.ms-fontobject',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

/** Larger files are no part of a page. */
const fileBytesMax = 32 * 1024 * 1024;

/** Compressed copies that the build makes, the best first. */
const encodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
];

export interface PageFile {
  type: string;
  etag: string;
  modified: string;
  encoding: string | undefined;
  read: () => Promise<Buffer>;
}

/** Finds a file of the admin page, or of the folder served in its place; undefined where there is none. */
export async function findPageFile(
  folder: string,
  parts: readonly string[],
  acceptedEncodings: string,
): Promise<PageFile | undefined> {
  if (!parts.every(isPlainName)) return undefined;
  const file = path.join(folder === '' ? builtIn : folder, ...parts);
  const type = types[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
  const accepted = acceptedEncodings.split(',').map((each) => each.split(';')[0]!.trim().toLowerCase());
  for (const { name, extension } of encodings) {
    if (!accepted.includes(name)) continue;
    const found = await fileAt(file + extension, type, name);
    if (found) return found;
  }
  return await fileAt(file, type, undefined);
}

/** Names that lead nowhere but into the folder, and to no hidden file. */
function isPlainName(part: string): boolean {
  return part !== '' && !part.startsWith('.') && !/[/\\\0:]/.test(part);
}

async function fileAt(
  file: string,
  type: string,
  encoding: string | undefined,
): Promise<PageFile | undefined> {
  const stats = await fs.stat(file).catch(() => undefined);
  if (!stats?.isFile() || stats.size > fileBytesMax) return undefined;
  return {
    type,
    encoding,
    etag: `"${stats.size.toString(36)}-${Math.round(stats.mtimeMs).toString(36)}"`,
    modified: stats.mtime.toUTCString(),
    read: () => fs.readFile(file),
  };
}
