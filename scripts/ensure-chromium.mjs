// Installs Debian's Chromium for the tests in a browser where it is missing and may be installed.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const program = '/usr/bin/chromium';

/** Without it the tests in a browser say that they are skipped. */
export function ensureChromium() {
  const mayInstall =
    process.platform === 'linux' && process.getuid() === 0 && fs.existsSync('/usr/bin/apt-get');
  if (fs.existsSync(program) || !mayInstall) return;
  process.stderr.write('Installing Chromium…\n');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const stdio = ['ignore', 'ignore', 2];
  spawnSync('apt-get', ['update', '-qq'], { env, stdio });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env, stdio });
}
