import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../../base/startup-error.js';
import { Config, type ConfigOptions } from '../../config/config.js';
import { iniEntries } from '../../config/ini.js';
import { configTexts } from '../../config/sources.js';
import { inspectFolder } from '../../node/data-folder.js';
import { problem, type Finding } from './finding.js';
import { folderFindings, secretFileFindings } from './folder-findings.js';
import { optionFindings } from './option-findings.js';
import { securityFindings } from './security-findings.js';
import { tlsFindings } from './tls-findings.js';

/**
 * Looks at a configuration and a data folder, and says what is wrong, unknown or dangerous. It reads and changes
 * nothing, so it may be asked while a server runs.
 */
export function examine(options: ConfigOptions & { dataDir: string }): Finding[] {
  const findings: Finding[] = [];
  const isRunning = isInUse(options.dataDir);
  try {
    const texts = configTexts(options.configFile, options.dataDir);
    for (const { file, text } of texts) findings.push(...optionFindings(file, iniEntries(text)));
    findings.push(
      ...secretFileFindings(texts.map(({ file, text }) => ({ file, secret: holdsSecrets(text) }))),
    );
    const config = new Config(options);
    findings.push(...securityFindings(config, isRunning), ...tlsFindings(config));
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    findings.push(problem('configuration', error.message, 'The server does not start like this.'));
  }
  findings.push(...folderFindings(path.resolve(options.dataDir)));
  return findings;
}

/** Whether another process has the folder open. */
export const isInUse = (dataDir: string): boolean =>
  fs.statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true &&
  inspectFolder(path.resolve(dataDir)).holder !== undefined;

const secretKeys = /^(?:secret|password)$/;

function holdsSecrets(text: string): boolean {
  return iniEntries(text).some(
    ({ section, key, value }) =>
      value !== null && (section === 'admins' || section === 'jwt_keys' || secretKeys.test(key)),
  );
}

/** The findings for people: problems first. */
export function report(findings: readonly Finding[]): string {
  const lines = (level: Finding['level']): string[] =>
    findings
      .filter((finding) => finding.level === level)
      .map(({ about, message, advice }) => `${level}: ${about}\n    ${message}\n    ${advice}\n`);
  const problems = lines('problem');
  const notes = lines('note');
  const end = `${count(problems.length, 'problem')}, ${count(notes.length, 'note')}.`;
  return `${[...problems, ...notes].join('\n')}${problems.length + notes.length > 0 ? '\n' : ''}${end}\n`;
}

const count = (number: number, word: string): string =>
  `${number === 0 ? 'no' : number} ${word}${number === 1 ? '' : 's'}`;
