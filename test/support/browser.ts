import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

/** Why there is no browser to look with, or undefined where there is one. Installs it where that is possible. */
export function missingBrowser(): string | undefined {
  if (fs.existsSync(executablePath)) return undefined;
  if (process.getuid?.() !== 0) return 'Chromium is not installed, and only root may install it';
  try {
    execFileSync('apt-get', ['update'], { stdio: 'ignore', timeout: 120_000 });
    execFileSync('apt-get', ['install', '-y', 'chromium'], { stdio: 'ignore', timeout: 400_000 });
  } catch {
    return 'Chromium is not installed, and could not be';
  }
  return fs.existsSync(executablePath) ? undefined : 'Chromium was installed somewhere else';
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}
