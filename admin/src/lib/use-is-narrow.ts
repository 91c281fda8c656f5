import { useEffect, useState } from 'preact/hooks';

/** The same width as in the style sheets. */
const narrow = matchMedia('(max-width: 760px)');

/** Whether the window is as narrow as a phone's. */
export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(narrow.matches);
  useEffect(() => {
    const update = (): void => setIsNarrow(narrow.matches);
    narrow.addEventListener('change', update);
    return () => narrow.removeEventListener('change', update);
  }, []);
  return isNarrow;
}
