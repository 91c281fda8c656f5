// npm run access: writes docs/access.md anew from the route tables.
import fs from 'node:fs';
import path from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';

await ensureBuilt();
const { accessPage } = await import(path.join(root, 'dist/test/auth/access-table.js'));
fs.writeFileSync(path.join(root, 'docs/access.md'), accessPage());
