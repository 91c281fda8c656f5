// Runs before npm packs: a package holds what a fresh build makes, and nothing that an earlier one left behind.
import fs from 'node:fs';
import path from 'node:path';
import { compile, ensureInstalled, root } from './ensure-built.mjs';

ensureInstalled();
// Without the stamp the next run of the tests builds everything.
for (const name of ['dist/src', 'dist/.tsbuildinfo', 'dist/.built']) {
  fs.rmSync(path.join(root, name), { recursive: true, force: true });
}
await compile('tsconfig.package.json');
