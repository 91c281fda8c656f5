/** Rows of text in columns, one line each. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, at) => text.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
