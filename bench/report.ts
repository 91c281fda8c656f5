import os from 'node:os';
import type { Result } from './measure.js';
import type { BenchOptions } from './options.js';

const headings = ['name', 'figure', 'rate', 'floor', 'what the floor is', 'by cpu', 'ratio', 'bar', ''];

/** A table with aligned columns, then what was run. */
export function report(
  results: readonly Result[],
  options: BenchOptions,
  memory: number | undefined,
): string {
  const rows = results.map((result) => [
    result.name,
    result.title,
    `${thousands(result.rate)} ${result.unit}`,
    thousands(result.floor),
    result.floorTitle,
    Number.isFinite(result.processorRatio) ? result.processorRatio.toFixed(2) : '–',
    result.ratio.toFixed(2),
    result.bar.toFixed(2),
    verdict(result),
  ]);
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]!.length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (isNumber(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  const { docs, seconds, rounds, logLevel } = options;
  const setting =
    `${thousands(docs)} documents of about 350 bytes, q=8, log level ${logLevel} (to a file), Node ${process.version}, ` +
    `${os.cpus().length} processors;\nmedians of ${rounds} samples of ${seconds} s, floor and figure in turn. "by cpu" is the ratio by processor time,\nwhich other programs on the machine hardly touch; it does not count what waits for the disk.`;
  const resident =
    memory === undefined
      ? []
      : [
          `Memory of the server after ${options.rest} s of rest, without mapped files: ${Math.round(memory)} MB.`,
        ];
  return [line(headings), ...rows.map(line), '', setting, ...resident].join('\n');
}

const isNumber = (column: number): boolean => [2, 3, 5, 6, 7].includes(column);

function verdict({ ratio, bar, rate, floor, enough, slowerMsMax, void: isVoid }: Result): string {
  if (isVoid) return 'void: the machine is too busy, the floor too low';
  if (slowerMsMax !== undefined) {
    const slowerMs = 1_000 / rate - 1_000 / floor;
    return `${slowerMs <= slowerMsMax ? 'met' : 'missed'}: ${slowerMs.toFixed(2)} ms slower, ${slowerMsMax} are allowed`;
  }
  if (ratio >= bar) return 'met';
  return rate >= enough ? `met: ${thousands(enough)} are enough` : 'missed';
}

const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');
