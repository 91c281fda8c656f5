import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Seconds of processor time that a process and those it has started have used; NaN where it cannot be known. */
export function processorSeconds(pid: number): number {
  if (process.platform !== 'linux' || Number.isNaN(pid)) return NaN;
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + processorSeconds(Number(child)), ownSeconds(pid));
}

function ownSeconds(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold anything; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond();
}

/**
 * Memory of a process that is its own, without the pages of files that the system can take back; undefined where it cannot be
 * known.
 */
export function residentMegabytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const found = /^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  return found === null ? undefined : Number(found[1]) / 1024;
}

let ticks: number | undefined;
const ticksPerSecond = (): number =>
  (ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })));
