import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Seconds of processor time that a process has used, all its threads together; NaN where it cannot be known. */
export function processorSeconds(pid: number): number {
  if (process.platform !== 'linux') return NaN;
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold anything; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond();
}

let ticks: number | undefined;
const ticksPerSecond = (): number =>
  (ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })));
