// npm run bench: installs and builds when needed, then runs the benchmarks with the arguments given.
import { ensureBuilt } from './ensure-built.mjs';
import { runNode } from './run-node.mjs';

await ensureBuilt();
runNode('dist/bench/main.js', process.argv.slice(2));
