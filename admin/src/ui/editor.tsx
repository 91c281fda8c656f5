import { useEffect, useRef, useState } from 'preact/hooks';
import type { EditorHandle, EditorOptions } from './editor-view.js';

interface Props extends EditorOptions {
  value: string;
  class?: string;
}

/** A text editor. Its code is loaded when the first one is shown. */
export function Editor({ value, class: name = '', ...options }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<EditorHandle>();
  const emitted = useRef(new Set<string>());
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    let made: EditorHandle | undefined;
    let isGone = false;
    void import('./editor-view.js').then(({ createEditor }) => {
      if (isGone) return;
      made = createEditor(host.current!, value, {
        ...options,
        onChange: (text) => {
          emitted.current.add(text);
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
    if (!emitted.current.has(value)) editor?.setText(value);
    emitted.current.clear();
  }, [editor, value]);
  useEffect(() => editor?.setOriginal(options.original), [editor, options.original]);
  useEffect(() => editor?.setProblems(options.problem), [editor, options.problem]);
  return <div ref={host} class={`editor ${name}`} data-ready={editor !== undefined} />;
}
