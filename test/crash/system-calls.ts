import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';

const program = path.resolve(import.meta.dirname, '../../src/main/cli.js');
const waitMsMax = 60_000;
const calls =
  'openat,read,fdatasync,fsync,msync,write,writev,sendto,sendmsg,pwrite64,pwritev,?link,linkat,?rename,renameat,renameat2';

/** One system call. Begin and end are places in the trace, which is written in the order of events. */
export interface SystemCall {
  name: string;
  /** Arguments and result, with file names for descriptors. */
  text: string;
  begin: number;
  end: number;
}

/** Why system calls cannot be watched here; false where they can. */
export function withoutTracing(): string | false {
  const run = spawnSync('strace', ['-f', '-D', '-y', '-o', '/dev/null', '-e', 'trace=fdatasync', 'true']);
  if (run.error !== undefined) return 'there is no strace';
  return run.status === 0 ? false : `strace is not permitted: ${String(run.stderr).trim()}`;
}

/** Runs a server while its system calls are written down, and gives them when `work` is done and it has ended. */
export async function traced(
  t: TestContext,
  folder: string,
  work: (url: string) => Promise<void>,
): Promise<SystemCall[]> {
  const trace = path.join(folder, 'trace');
  const server = [program, '--data', path.join(folder, 'data'), '--port', '0', '--admin', 'admin:secret'];
  // With -D the server is our own child, to be stopped by a signal, and the tracer follows it.
  const options = ['-f', '-D', '-y', '-ttt', '-s', '9000', '-o', trace, '-e', `trace=${calls}`];
  // Without the system databases nobody writes but the test: what is written next would be taken for what went before.
  const env = { ...process.env, TUFFET__TUFFET__AUTO_SETUP: 'false' };
  const child = spawn('strace', [...options, process.execPath, ...server, '--log-level', 'none'], { env });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (data) => (printed += String(data)));
  const ended = once(child, 'exit');
  await until(() => printed.includes('Data:'));
  await work(/listens on (http:\S+?)\/?\s/.exec(printed)![1]!);
  child.kill('SIGTERM');
  await ended;
  const last = new RegExp(`^${child.pid} .*\\+\\+\\+ (exited|killed)`, 'm');
  await until(() => last.test(fs.readFileSync(trace, 'utf8')));
  return parse(fs.readFileSync(trace, 'utf8'));
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + waitMsMax; !condition();) {
    assert.ok(Date.now() < deadline, 'waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Calls that other threads interrupt stand on two lines of the trace. */
function parse(trace: string): SystemCall[] {
  const found: SystemCall[] = [];
  const unfinished = new Map<string, SystemCall>();
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread, event] = /^(\d+)\s+[\d.]+ (.*)$/s.exec(line) ?? [];
    if (thread === undefined || event === undefined) continue;
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(event);
    if (resumed !== null) {
      const call = unfinished.get(thread);
      if (call !== undefined) Object.assign(call, { text: call.text + resumed[1]!, end: at });
      unfinished.delete(thread);
      continue;
    }
    const name = /^(\w+)\(/.exec(event)?.[1];
    if (name === undefined) continue;
    const begun = event.endsWith('<unfinished ...>');
    const call = {
      name,
      text: event.replace(/<unfinished \.\.\.>$/, ''),
      begin: at,
      end: begun ? Infinity : at,
    };
    found.push(call);
    if (begun) unfinished.set(thread, call);
  }
  return found;
}
