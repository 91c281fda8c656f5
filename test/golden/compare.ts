import { canonical } from './canonical.js';
import type { Step } from './scenario.js';
import type { Observed } from './tidy.js';
import { valueAt } from './variables.js';

/** What is different from what was recorded, in words; nothing where all is well. */
export function faultsOf(step: Step, got: Observed): string[] {
  const want = {
    ...step.seen,
    ...step.want,
    headers: { ...step.seen?.headers, ...step.want?.headers },
  };
  const parts = step.check ?? ['status', 'headers', 'body'];
  return [
    ...statusFaults([want.status].flat(), got.status),
    ...(parts.includes('headers') ? headerFaults(step, want.headers, got.headers) : []),
    ...(parts.includes('body') && step.body_has === undefined ? bodyFaults('body', want.body, got.body) : []),
    ...(step.body_has ?? []).flatMap((path) =>
      bodyFaults(`body.${path}`, valueAt(want.body, path), valueAt(got.body, path)),
    ),
  ];
}

function statusFaults(wanted: (number | undefined)[], got: number): string[] {
  return wanted.includes(got) ? [] : [`status ${got}, expected ${wanted.join(' or ')}`];
}

function headerFaults(
  { cookies }: Step,
  wanted: Record<string, string | null>,
  got: Record<string, string>,
): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const skipped = value === null || name === 'cache-control' || (name === 'set-cookie' && !cookies);
    if (skipped || got[name] === value) return [];
    return [`header ${name}: ${got[name] ?? 'absent'}, expected ${value}`];
  });
}

const shownLength = 600;

function bodyFaults(what: string, wanted: unknown, got: unknown): string[] {
  if (canonical(wanted) === canonical(got)) return [];
  return [`${what} ${shown(got)}\n  expected ${shown(wanted)}`];
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, shownLength);
