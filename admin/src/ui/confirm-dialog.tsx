import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.js';
import { Field, Form } from './form.js';

interface Props {
  title: string;
  children: ComponentChildren;
  submit: string;
  /** What has to be typed before the button works. */
  typed?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that can't be taken back. */
export function ConfirmDialog({ title, children, submit, typed, onConfirm, onClose }: Props) {
  const [text, setText] = useState('');
  const confirm = async (): Promise<void> => {
    await onConfirm();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={confirm}
        submit={submit}
        danger
        isDisabled={typed !== undefined && text !== typed}
        onCancel={onClose}
      >
        {children}
        {typed !== undefined && <Field label={`Type ${typed} to confirm`} value={text} onInput={setText} />}
      </Form>
    </Dialog>
  );
}
