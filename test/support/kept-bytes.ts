import v8 from 'node:v8';
import vm from 'node:vm';

/** Bytes of buffers that are still in use, after garbage has been collected. */
export function keptBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  (vm.runInNewContext('gc') as () => void)();
  return process.memoryUsage().arrayBuffers;
}
