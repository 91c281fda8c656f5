import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorBox } from './error-box.js';
import { visible } from './text.js';

interface PageProps {
  title: string;
  /** Shown in place of the title. */
  heading?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, heading, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${visible(title.slice(0, 60))} · Tuffet`;
  }, [title]);
  return (
    <main id="main" class="page" tabIndex={-1}>
      <header class="page-head">
        <h1>{heading ?? title}</h1>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

interface LoadedState<T> {
  data: T | undefined;
  error: unknown;
  reload: () => void;
}

/** Shows what was loaded, or that it is on its way, and in any case the error. */
export function Await<T>({
  state,
  children,
}: {
  state: LoadedState<T>;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, reload } = state;
  return (
    <>
      <ErrorBox error={error} onRetry={reload} />
      {data === undefined ? !error && <Loading /> : children(data)}
    </>
  );
}

export function Loading({ what = 'Loading…' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what}
    </p>
  );
}

export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  const share = total > 0 ? Math.min(done / total, 1) : 0;
  return (
    <div class="progress">
      <progress value={share} max={1} aria-label={label} />
      <span>{Math.round(share * 100)} %</span>
    </div>
  );
}
