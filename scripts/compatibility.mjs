// npm run compatibility: writes the list of intended differences from CouchDB into docs/compatibility.md.
import fs from 'node:fs';
import path from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';

await ensureBuilt();
const { differencesPage } = await import('../dist/src/compare/differences-page.js');
const page = path.join(root, 'docs/compatibility.md');
const [before, rest] = fs.readFileSync(page, 'utf8').split('<!-- differences -->\n');
const after = rest.slice(rest.indexOf('<!-- end of differences -->'));
fs.writeFileSync(page, `${before}<!-- differences -->\n\n${differencesPage()}\n${after}`);
