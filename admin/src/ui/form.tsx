import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ErrorBox } from './error-box.js';

interface FormProps {
  onSubmit: () => Promise<unknown>;
  submit: string;
  danger?: boolean;
  isDisabled?: boolean;
  onCancel?: () => void;
  children?: ComponentChildren;
  class?: string;
}

/** A form that is busy while it is sent, and shows the error where it was refused. */
export function Form({
  onSubmit,
  submit,
  danger,
  isDisabled,
  onCancel,
  children,
  class: name = '',
}: FormProps) {
  const { run, isBusy, error } = useAction(onSubmit);
  const send = (event: Event): void => {
    event.preventDefault();
    void run();
  };
  return (
    <form class={`form ${name}`} onSubmit={send}>
      {children}
      <ErrorBox error={error} />
      <div class="form-actions">
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={isBusy || isDisabled}>
          {isBusy ? 'Please wait…' : submit}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** Runs an action once at a time and keeps its error. */
export function useAction(action: () => Promise<unknown>): {
  run: () => Promise<void>;
  isBusy: boolean;
  error: unknown;
} {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const run = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      await action();
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return { run, isBusy: state.isBusy, error: state.error };
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  value: string;
  onInput: (value: string) => void;
  name?: string;
  isSecret?: boolean;
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password' | 'one-time-code';
  required?: boolean;
  placeholder?: string;
  inputMode?: 'numeric' | 'text';
}

export function Field({ label, hint, value, onInput, isSecret, autocomplete = 'off', ...rest }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={(isSecret ? 'password' : 'text') as 'text'}
        value={value}
        autocomplete={autocomplete}
        spellcheck={false}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...rest}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
  isInline?: boolean;
}

export function Select({ label, value, options, onChange, isInline }: SelectProps) {
  const id = useId();
  return (
    <div class={isInline ? 'field inline' : 'field'}>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckboxProps {
  label: ComponentChildren;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}

export function Checkbox({ label, isChecked, onChange }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
