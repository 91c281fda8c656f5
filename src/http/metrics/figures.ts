/** What is measured, in the text format of Prometheus. */
export interface Figure {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  help: string;
  samples: () => Iterable<Sample>;
}

export interface Sample {
  /** What is appended to the name, such as `_bucket`. */
  suffix?: string;
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A counter or gauge of one value. */
export const single = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: () => number,
): Figure => ({ name, type, help, samples: () => [{ value: value() }] });

/** Counters or gauges of one name, told apart by one label. */
export const labelled = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  label: string,
  values: () => Iterable<readonly [string, number]>,
): Figure => ({
  name,
  type,
  help,
  samples: () => [...values()].map(([key, value]) => ({ labels: { [label]: key }, value })),
});

export function exposition(figures: readonly Figure[]): string {
  return figures.map(figureText).join('\n');
}

function figureText({ name, type, help, samples }: Figure): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const { suffix = '', labels, value } of samples())
    lines.push(`${name}${suffix}${labelText(labels)} ${value === Infinity ? '+Inf' : value}`);
  return `${lines.join('\n')}\n`;
}

function labelText(labels: Sample['labels']): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string => value.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
