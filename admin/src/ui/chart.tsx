import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ChartHandle } from './chart-view.js';

export interface Series {
  label: string;
  color: string;
}

interface Props {
  label: string;
  series: readonly Series[];
  /** Seconds since 1970, then the values of each series. */
  data: readonly (readonly (number | null)[])[];
  format: (value: number) => string;
}

/** A chart over time. Its code is loaded when the first one is shown. */
export function Chart({ label, series, data, format }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ChartHandle>(undefined);
  const latest = useRef(data);
  latest.current = data;
  // Not after drawing, when the element may be gone already.
  useLayoutEffect(() => {
    let isGone = false;
    void import('./chart-view.js').then(({ createChart }) => {
      if (!isGone) chart.current = createChart(host.current!, series, latest.current, format);
    });
    return () => {
      isGone = true;
      chart.current?.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(data), [data]);
  const last = series.map(({ label: name }, at) => {
    const value = data[at + 1]?.at(-1);
    return `${name} ${typeof value === 'number' ? format(value) : 'unknown'}`;
  });
  return (
    <figure class="chart">
      <figcaption>
        {label} <span class="quiet">{last.join(' · ')}</span>
      </figcaption>
      <div ref={host} role="img" aria-label={`${label}: ${last.join(', ')}`} />
    </figure>
  );
}
