import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from './chart.js';

type Data = readonly (readonly (number | null)[])[];

export interface ChartHandle {
  setData: (data: Data) => void;
  destroy: () => void;
}

const heightPx = 150;
const spanSeconds = 120;

export function createChart(
  host: HTMLElement,
  series: readonly Series[],
  data: Data,
  format: (value: number) => string,
): ChartHandle {
  const color = (name: string): string => getComputedStyle(host).getPropertyValue(name);
  const axis = { stroke: () => color('--quiet'), grid: { stroke: () => color('--line'), width: 1 } };
  const plot = new uPlot(
    {
      width: host.clientWidth || 400,
      height: heightPx,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: (_plot, _first, last) => [last - spanSeconds, last] },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        { ...axis, size: 28 },
        { ...axis, size: 64, values: (_plot, values) => values.map(format) },
      ],
      series: [
        {},
        ...series.map(({ label, color: name }) => ({
          label,
          stroke: () => color(name),
          width: 2,
          points: { show: false },
        })),
      ],
    },
    data as unknown as uPlot.AlignedData,
    host,
  );
  const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: heightPx }));
  observer.observe(host);
  return {
    setData: (next) => plot.setData(next as unknown as uPlot.AlignedData),
    destroy: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}
