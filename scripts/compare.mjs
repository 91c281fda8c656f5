// npm run compare: installs and builds when needed, then compares with a CouchDB.
import { ensureBuilt } from './ensure-built.mjs';
import { runNode } from './run-node.mjs';

await ensureBuilt();
runNode('dist/src/main/cli.js', ['compare', ...process.argv.slice(2)]);
