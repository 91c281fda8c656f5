import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

/** For each of the two commands. */
const timeoutMs = 10 * 60_000;

/** Installs a program that tests use, where this process may; leaves it to the caller to see whether that worked. */
export function installDebianPackage(name) {
  const mayInstall =
    process.platform === 'linux' && process.getuid() === 0 && fs.existsSync('/usr/bin/apt-get');
  if (!mayInstall) return;
  process.stderr.write(`Installing ${name}…\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 2], timeout: timeoutMs };
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], options);
}
