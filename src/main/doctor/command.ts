import { packageVersion } from '../../base/version.js';
import { configOptions } from '../../server/server-options.js';
import { parseCommandLine } from '../arguments.js';
import { defaultDataDir, serverOptions } from '../command-options.js';
import { usage } from '../usage.js';
import { examine, isInUse, report } from './doctor.js';
import { serverFindings } from './running-server.js';

export async function doctor(args: string[]): Promise<number> {
  const line = parseCommandLine('doctor', args, process.env);
  if (line.wants !== undefined) {
    process.stdout.write(line.wants === 'help' ? usage : `${packageVersion()}\n`);
    return 0;
  }
  const { dataDir = defaultDataDir, ...options } = serverOptions(line, process.env);
  const config = { ...configOptions(options), dataDir };
  const findings = examine(config);
  if (isInUse(dataDir)) findings.push(...(await serverFindings(config)));
  const ok = !findings.some(({ level }) => level === 'problem');
  process.stdout.write(line.json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : report(findings));
  return ok ? 0 : 1;
}
