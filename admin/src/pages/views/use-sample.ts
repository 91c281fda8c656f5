import { useEffect, useState } from 'preact/hooks';
import type { SampleAnswer, SampleRequest } from '../../workers/sample-worker.js';

const pauseMs = 300;
const timeoutMs = 3000;

/** Runs functions on documents in a worker, a moment after the last change. */
export function useSample(
  docs: SampleRequest['docs'] | undefined,
  map: string,
  reduce: string,
): SampleAnswer | undefined {
  const [answer, setAnswer] = useState<SampleAnswer>();
  useEffect(() => {
    if (docs === undefined) return;
    let worker: Worker | undefined;
    let timeout: ReturnType<typeof setTimeout> | undefined;
    const start = setTimeout(() => {
      worker = new Worker(new URL('../../workers/sample-worker.ts', import.meta.url), { type: 'module' });
      const end = (result: SampleAnswer): void => {
        clearTimeout(timeout);
        worker?.terminate();
        setAnswer(result);
      };
      timeout = setTimeout(
        () => end(failure(`The function took longer than ${timeoutMs / 1000} s.`)),
        timeoutMs,
      );
      worker.onmessage = ({ data }: MessageEvent<SampleAnswer>) => end(data);
      worker.onerror = ({ message }) => end(failure(message));
      worker.postMessage({ docs, map, reduce } satisfies SampleRequest);
    }, pauseMs);
    return () => {
      clearTimeout(start);
      clearTimeout(timeout);
      worker?.terminate();
    };
  }, [docs, map, reduce]);
  return answer;
}

const failure = (error: string): SampleAnswer => ({ rows: [], count: 0, error });
