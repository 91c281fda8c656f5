import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  isWide?: boolean;
}

/** A modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children, isWide }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before anything is drawn: the next key that is typed belongs to the dialog.
  useLayoutEffect(() => {
    dialog.current!.showModal();
    dialog.current!.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onCancel={cancel}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="ghost" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
