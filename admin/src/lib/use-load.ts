import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

/** Loads when the inputs change; what was shown before stays until the new data is there. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; isLoading: boolean }>({ isLoading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    load(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data, isLoading: false }),
      (error: unknown) =>
        !stop.signal.aborted && setState((before) => ({ ...before, error, isLoading: false })),
    );
    return () => stop.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload };
}

/** Calls again and again, while somebody looks at the page. */
export function useInterval(callback: () => void, intervalMs: number): void {
  const latest = useRef(callback);
  latest.current = callback;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
