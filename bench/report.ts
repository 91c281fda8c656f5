import os from 'node:os';
import type { Result } from './measure.js';
import type { BenchOptions } from './options.js';

type Cells = readonly string[];

interface Layout {
  headings: Cells;
  /** The columns of numbers. */
  numbers: ReadonlySet<number>;
  cells: (result: Result) => Cells;
  /** What the samples were, and of what. */
  note: string;
}

const againstFloors: Layout = {
  headings: ['name', 'figure', 'rate', 'floor', 'what the floor is', 'by cpu', 'ratio', 'bar', ''],
  numbers: new Set([2, 3, 5, 6, 7]),
  cells: (result) => [
    result.name,
    result.title,
    `${thousands(result.rate)} ${result.unit}`,
    thousands(result.floor),
    result.floorTitle,
    Number.isFinite(result.processorRatio) ? result.processorRatio.toFixed(2) : '–',
    result.ratio.toFixed(2),
    result.bar.toFixed(2),
    verdict(result),
  ],
  note:
    'floor and figure in turn. "by cpu" is the ratio by processor time,\n' +
    'which other programs on the machine hardly touch; it does not count what waits for the disk.',
};

const againstReference = (version: string): Layout => ({
  headings: ['name', 'figure', 'rate', 'reference', 'times'],
  numbers: new Set([2, 3, 4]),
  cells: ({ name, title, rate, unit, floor, ratio }) => [
    name,
    title,
    `${decimals(rate)} ${unit}`,
    decimals(floor),
    ratio.toFixed(1),
  ],
  note: `reference and figure in turn. The reference says that it is version ${version}.`,
});

/** A table with aligned columns, then what was run. */
export function report(
  results: readonly Result[],
  options: BenchOptions,
  memory: number | undefined,
  reference?: string,
): string {
  const { headings, numbers, cells, note } =
    reference === undefined ? againstFloors : againstReference(reference);
  const rows = results.map(cells);
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]!.length)),
  );
  const line = (row: Cells): string =>
    row
      .map((cell, at) => (numbers.has(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  const { docs, seconds, rounds, logLevel } = options;
  const setting =
    `${thousands(docs)} documents of about 350 bytes, q=8, log level ${logLevel} (to a file), Node ${process.version}, ` +
    `${os.cpus().length} processors;\nmedians of ${rounds} samples of ${seconds} s, ${note}`;
  const resident =
    memory === undefined
      ? []
      : [
          `Memory of the server after ${options.rest} s of rest, without mapped files: ${Math.round(memory)} MB.`,
        ];
  return [line(headings), ...rows.map(line), '', setting, ...resident].join('\n');
}

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

/** Small rates are told apart too. */
const decimals = (value: number): string => (value < 10 ? value.toFixed(1) : thousands(value));
