// The last step of the build: puts the files that the compiler doesn't handle beside the code that reads them.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const assetExtensions = new Set(['.css', '.html', '.ico', '.svg']);

for (const name of fs.readdirSync(path.join(root, 'src'), { recursive: true })) {
  if (!assetExtensions.has(path.extname(name))) continue;
  const target = path.join(root, 'dist/src', name);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.copyFileSync(path.join(root, 'src', name), target);
}

// What the program would otherwise find out about itself at run time, where a bundler or minifier may have changed it: the
// text of its own functions, which the sandbox runs, and its version.
const { scopePrograms } = await import(
  pathToFileURL(path.join(root, 'dist/src/script/inside/program.js')).href
);
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
writeModule('script/scope-programs.js', 'scopePrograms', scopePrograms);
writeModule('base/package-version.js', 'version', version);

function writeModule(name, exported, value) {
  const text = `export const ${exported} = ${JSON.stringify(value, null, 1)};\n`;
  fs.writeFileSync(path.join(root, 'dist/src', name), text);
}
