// npm start: installs and builds when needed, then runs the server with the arguments given.
import { ensureBuilt } from './ensure-built.mjs';
import { runNode } from './run-node.mjs';

await ensureBuilt();
runNode('dist/src/main/cli.js', process.argv.slice(2));
