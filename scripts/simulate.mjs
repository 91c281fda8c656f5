// npm run simulate -- [--minutes N] [--seed N]: installs and builds when needed, then simulates machines that crash.
import { ensureBuilt } from './ensure-built.mjs';
import { runNode } from './run-node.mjs';

await ensureBuilt();
runNode('dist/test/simulation/main.js', process.argv.slice(2));
