import fs from 'node:fs';
import { Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import threads, { isMainThread, threadId, Worker, type WorkerOptions } from 'node:worker_threads';

const everyMs = 1_000;

/**
 * Loaded before the server (`--import`), and by that into each of its threads, and theirs. Node writes the profile of the main
 * thread when the process ends, but none of threads that are ended from outside: so these write what they have done every
 * second.
 */
threads.Worker = class extends Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    super(file, { ...options, execArgv: [...(options.execArgv ?? []), '--import', import.meta.url] });
  }
};
syncBuiltinESMExports();
if (!isMainThread) writeProfiles(new URL(import.meta.url).searchParams.get('folder')!);

function writeProfiles(folder: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  let written = 0;
  const write = (): void =>
    session.post('Profiler.stop', (error, result) => {
      session.post('Profiler.start');
      if (error !== null) return;
      const name = `CPU.0.0.${process.pid}.${threadId}.${++written}.cpuprofile`;
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, name), JSON.stringify(result.profile));
    });
  setInterval(write, everyMs).unref();
}
