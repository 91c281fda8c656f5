const numbers = new Intl.NumberFormat('en');

export const formatCount = (count: number): string => numbers.format(count);

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(seconds: number): string {
  const steps: [number, string][] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const at = steps.findIndex(([size]) => seconds >= size);
  if (at < 0) return '0 s';
  const [size, unit] = steps[at]!;
  const whole = `${Math.floor(seconds / size)} ${unit}`;
  const next = steps[at + 1];
  const rest = next ? Math.floor((seconds % size) / next[0]) : 0;
  return next && rest > 0 ? `${whole} ${rest} ${next[1]}` : whole;
}

export const formatTime = (time: number | string): string =>
  new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
