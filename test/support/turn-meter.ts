/**
 * Loaded into a server by `--import`: measures the processor time that its longest turn of the event loop took, which says more
 * than a wait where the machine has other things to do. A timer that fires every millisecond looks at the time of the thread.
 * SIGUSR2 writes the longest turn since the last time, in milliseconds, to the file that `TUFFET_TURN_METER` names.
 */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['TUFFET_TURN_METER'];
const schedstat = `/proc/self/task/${process.pid}/schedstat`;

if (isMainThread && file !== undefined) {
  const opened = fs.openSync(schedstat, 'r');
  const bytes = Buffer.alloc(100);
  const threadMs = (): number =>
    Number(bytes.latin1Slice(0, fs.readSync(opened, bytes, 0, bytes.length, 0)).split(' ')[0]) / 1e6;
  let last = threadMs();
  let longestMs = 0;
  const look = (): void => {
    const now = threadMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  setInterval(look, 1).unref();
  process.on('SIGUSR2', () => {
    look();
    fs.writeFileSync(file, longestMs.toFixed(1));
    longestMs = 0;
  });
}
