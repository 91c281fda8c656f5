// Installs Debian's Chromium for the tests in a browser where it is missing and may be installed.
import fs from 'node:fs';
import { installDebianPackage } from './install-debian-package.mjs';

/** Without it the tests in a browser say that they are skipped. */
export function ensureChromium() {
  if (!fs.existsSync('/usr/bin/chromium')) installDebianPackage('chromium');
}
