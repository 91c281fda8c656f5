import { useEffect, useState } from 'preact/hooks';

let show: (message: string) => void = () => undefined;

/** Tells, for a few seconds and to screen readers too, that something was done. */
export const notify = (message: string): void => show(message);

const shownMs = 4000;

export function Toasts() {
  const [message, setMessage] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    show = (next) => {
      clearTimeout(timer);
      setMessage(next);
      timer = setTimeout(() => setMessage(''), shownMs);
    };
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {message !== '' && <p>{message}</p>}
    </div>
  );
}
