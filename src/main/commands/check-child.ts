import fs from 'node:fs';
import { StartupError } from '../../base/startup-error.js';
import { checkFolder } from '../../operations/check/folder-check.js';

/** The process that `check.ts` starts. Events leave at once: what was said before damage ends the process must arrive. */
const say = (event: object): void => void fs.writeSync(1, `${JSON.stringify(event)}\n`);

const [folder = '', repair] = process.argv.slice(2);
try {
  const summary = await checkFolder(folder, repair === 'true', {
    at: (at) => say({ at }),
    found: (finding) => say({ finding }),
  });
  say({ summary });
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  say({ refused: error.message });
}
