import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  isNumber?: boolean;
  /** Left out on narrow screens. */
  isMinor?: boolean;
  /** Width in a virtual table, as a track of CSS grid. */
  width?: string;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty?: ComponentChildren;
}

/** A table for lists of moderate length; `VirtualTable` shows long ones. */
export function Table<Row>({ label, columns, rows, keyOf, empty = 'Nothing here.' }: Props<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table role="table">
        <thead>
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} role="columnheader" scope="col" class={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column) => (
                <td key={column.title} role="cell" data-title={column.title} class={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function cellClass<Row>({ isNumber, isMinor }: Column<Row>): string {
  return `${isNumber ? 'number' : ''} ${isMinor ? 'minor' : ''}`.trim();
}
