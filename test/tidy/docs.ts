import fs from 'node:fs';
import path from 'node:path';
import type { TextFile } from './source-files.js';

/** The cells of every table row of a page whose first cell fits. Marks for code are taken off. */
export function tableRows(page: string, firstCell: RegExp): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .filter(([first = '']) => firstCell.test(first));
}

/** Paths in backquotes and relative links that lead nowhere. */
export function brokenReferences(pages: readonly TextFile[]): string[] {
  return pages.flatMap(({ path: page, text }) => {
    const quoted = [...text.matchAll(/`((?:src|docs|test|bench|scripts)\/[\w./-]+)`/g)].map(
      ([, file]) => file!,
    );
    const linked = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, file]) =>
      path.posix.join(path.posix.dirname(page), file!),
    );
    return [...quoted, ...linked].filter((file) => !fs.existsSync(file)).map((file) => `${page}: ${file}`);
  });
}

/** Functions written `name` (`src/…`) whose file doesn't hold the name. */
export function unknownFunctions(pages: readonly TextFile[]): string[] {
  return pages.flatMap(({ path: page, text }) =>
    [...text.matchAll(/`([\w.#]+)`\s+\(`(src\/[\w./-]+\.ts)`\)/g)].flatMap(([, name, file]) => {
      const word = name!.split('.').at(-1)!;
      const source = fs.existsSync(file!) ? fs.readFileSync(file!, 'utf8') : '';
      return new RegExp(`(?<![\\w#])${word}\\b`).test(source) ? [] : [`${page}: ${name} in ${file}`];
    }),
  );
}

/** What is in the one list and not in the other, for a message that says which. */
export function difference(
  expected: Iterable<string>,
  found: Iterable<string>,
): { missing: string[]; unknown: string[] } {
  const [left, right] = [new Set(expected), new Set(found)];
  return {
    missing: [...left].filter((each) => !right.has(each)),
    unknown: [...right].filter((each) => !left.has(each)),
  };
}
