// The last step of the build: puts the files that the compiler doesn't handle beside the code that reads them.
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const assetExtensions = new Set(['.css', '.html', '.ico', '.svg']);

for (const name of fs.readdirSync(path.join(root, 'src'), { recursive: true })) {
  if (!assetExtensions.has(path.extname(name))) continue;
  const target = path.join(root, 'dist/src', name);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.copyFileSync(path.join(root, 'src', name), target);
}
