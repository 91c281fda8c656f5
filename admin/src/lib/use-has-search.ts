import { useEffect, useState } from 'preact/hooks';
import { get } from '../api/http.js';

let asked: Promise<boolean> | undefined;

/** Whether the server has text search; it names its features in the answer to `GET /`. */
export function useHasSearch(): boolean {
  const [hasSearch, setHasSearch] = useState(false);
  useEffect(() => {
    asked ??= get<{ features?: string[] }>([]).then(
      ({ features = [] }) => features.includes('search'),
      () => false,
    );
    void asked.then(setHasSearch);
  }, []);
  return hasSearch;
}
