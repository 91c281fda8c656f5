import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** Kills a child when this process has ended, even if it was killed itself and could not. */
export function endWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return;
  // The pipe is closed by the kernel, whatever has ended this process.
  const guard = spawn('sh', ['-c', 'cat > /dev/null; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  guard.on('error', () => undefined);
  child.once('exit', () => guard.kill('SIGKILL'));
}
