// Installs Debian's NATS server for the tests of a cluster where it is missing and may be installed.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { installDebianPackage } from './install-debian-package.mjs';

/** Tells whether it is there. Without it the tests of a cluster say that they are skipped. */
export function ensureNats() {
  if (!hasNats()) installDebianPackage('nats-server');
  return hasNats();
}

const hasNats = () => spawnSync('nats-server', ['--version']).status === 0;

if (import.meta.url === pathToFileURL(process.argv[1]).href) ensureNats();
