import { useRef, useState } from 'preact/hooks';

const pointsMax = 300;

/** Values over time for a chart: seconds first, then one list for each series. */
export function useHistory(seriesCount: number): {
  data: (number | null)[][];
  add: (values: (number | null)[]) => void;
} {
  const [data, setData] = useState<(number | null)[][]>(() =>
    Array.from({ length: seriesCount + 1 }, () => []),
  );
  const add = useRef((values: (number | null)[]) => {
    const point = [Date.now() / 1000, ...values];
    setData((before) => before.map((list, at) => [...list, point[at] ?? null].slice(-pointsMax)));
  });
  return { data, add: add.current };
}
