import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

const here = import.meta.dirname;
const optionsPage = path.join(here, '../docs/configuration.md');

export default defineConfig({
  root: here,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: path.join(here, '../dist/admin'),
    emptyOutDir: true,
    target: 'es2023',
    // Data URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The editor is large, and loaded only where a text is edited.
    chunkSizeWarningLimit: 600,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  logLevel: 'warn',
  plugins: [configurationOptions(), compressedCopies()],
});

/** Gives the page the tables of docs/configuration.md as a module: what each option means is written down once. */
function configurationOptions() {
  const name = 'virtual:configuration-options';
  return {
    name: 'configuration-options',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      this.addWatchFile(optionsPage);
      return `export default ${JSON.stringify(readOptions(fs.readFileSync(optionsPage, 'utf8')))};`;
    },
  };
}

function readOptions(page) {
  const options = {};
  let section = '';
  for (const line of page.split('\n')) {
    section = /^### \[(.+)\]$/.exec(line)?.[1] ?? section;
    const [, option, values, initial, meaning] = /^\| `([^`]+)` \| (.*) \| (.*) \| (.*) \|$/.exec(line) ?? [];
    if (section === '' || option === undefined) continue;
    options[`${section}/${option}`] = { values, initial, meaning };
  }
  return options;
}

/** Compresses once, in the build, what the server sends to browsers that accept it. */
function compressedCopies() {
  return {
    name: 'compressed-copies',
    apply: 'build',
    writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue;
        const file = path.join(dir, name);
        const bytes = fs.readFileSync(file);
        fs.writeFileSync(
          `${file}.br`,
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
        );
        fs.writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}
