import type { ComponentChildren } from 'preact';
import { ErrorBox } from './error-box.js';
import { useAction } from './form.js';

interface Props {
  onAction: () => Promise<unknown>;
  children: ComponentChildren;
  class?: string;
  isDisabled?: boolean;
  title?: string;
}

/** A button for one request; its error is shown beside it. */
export function ActionButton({ onAction, children, class: name = '', isDisabled, title }: Props) {
  const { run, isBusy, error } = useAction(onAction);
  return (
    <>
      <button
        type="button"
        class={name}
        title={title}
        disabled={isBusy || isDisabled}
        onClick={() => void run()}
      >
        {children}
      </button>
      <ErrorBox error={error} />
    </>
  );
}
