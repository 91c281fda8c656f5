import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EditorHandle, EditorOptions } from './editor-view.js';

interface Props extends EditorOptions {
  value: string;
  class?: string;
}

/** More changes than the page draws at once never wait to come back. */
const emittedMax = 100;

/** A text editor. Its code is loaded when the first one is shown. */
export function Editor({ value, class: name = '', ...options }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<EditorHandle>();
  /** Texts that were typed and have not come back as `value`, the oldest first. */
  const emitted = useRef<string[]>([]);
  const latest = useRef(options);
  latest.current = options;
  // Not after drawing, when the element may be gone already.
  useLayoutEffect(() => {
    let made: EditorHandle | undefined;
    let isGone = false;
    void import('./editor-view.js').then(({ createEditor }) => {
      if (isGone) return;
      made = createEditor(host.current!, value, {
        ...options,
        onChange: (text) => {
          emitted.current = [...emitted.current.slice(1 - emittedMax), text];
          latest.current.onChange?.(text);
        },
        onSubmit: () => latest.current.onSubmit?.(),
      });
      setEditor(made);
    });
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, []);
  useEffect(() => {
    // What was typed comes back a moment later, when more may have been typed; it must not be put in its place.
    const at = emitted.current.lastIndexOf(value);
    if (at < 0) editor?.setText(value);
    emitted.current = emitted.current.slice(at + 1);
  }, [editor, value]);
  useEffect(() => editor?.setOriginal(options.original), [editor, options.original]);
  useEffect(() => editor?.setProblems(options.problem), [editor, options.problem]);
  return <div ref={host} class={`editor ${name}`} data-ready={editor !== undefined} />;
}
