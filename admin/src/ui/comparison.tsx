import { useLayoutEffect, useRef } from 'preact/hooks';

/** Two texts beside each other, with their differences. */
export function Comparison({ left, right }: { left: string; right: string }) {
  const host = useRef<HTMLDivElement>(null);
  // Not after drawing, when the element may be gone already.
  useLayoutEffect(() => {
    let made: { destroy: () => void } | undefined;
    let isGone = false;
    void import('./editor-view.js').then(({ createComparison }) => {
      if (!isGone) made = createComparison(host.current!, left, right);
    });
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, [left, right]);
  return <div ref={host} class="editor comparison" />;
}
