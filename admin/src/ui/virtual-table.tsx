import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useIsNarrow } from '../lib/use-is-narrow.js';
import { cellClass, type Column } from './table.js';

/** Browsers draw nothing beyond some ten million pixels; longer lists scroll by a scaled distance. */
const heightMax = 8_000_000;
const spareRows = 6;

interface Props<Row> {
  label: string;
  columns: readonly Column<Row | undefined>[];
  count: number;
  rowAt: (index: number) => Row | undefined;
  rowHeight: number;
  /** Tells which rows are in sight, so that they can be loaded. */
  onRange: (first: number, last: number) => void;
  onOpen?: (index: number) => void;
  onSelect?: (index: number) => void;
  active: number;
  onActive: (index: number) => void;
}

/** A table of any number of rows of one height, of which only those in sight exist. */
export function VirtualTable<Row>(props: Props<Row>) {
  const { label, count, rowAt, rowHeight, onRange, active } = props;
  const isNarrow = useIsNarrow();
  const columns = props.columns.filter(({ isMinor }) => !isNarrow || !isMinor);
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height));
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const view = viewOf(top, height, count, rowHeight);
  useEffect(() => onRange(view.first, view.last), [view.first, view.last, onRange]);
  useLayoutEffect(() => scrollTo(scroller.current!, active, count, rowHeight), [active, count, rowHeight]);
  const template = columns.map(({ width = '1fr' }) => `minmax(0, ${width})`).join(' ');
  const rows: number[] = [];
  for (let index = view.first; index <= view.last; index++) rows.push(index);
  return (
    <div class="virtual" role="table" aria-label={label} aria-rowcount={count + 1}>
      <div class="virtual-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <div key={column.title} role="columnheader" class={cellClass(column)}>
            {column.title}
          </div>
        ))}
      </div>
      <div
        ref={scroller}
        class="virtual-body"
        role="rowgroup"
        tabIndex={0}
        aria-label={`${label}: arrow keys move, Enter opens`}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={(event) => onKey(event, props, Math.floor(height / rowHeight))}
      >
        <div class="virtual-space" role="presentation" style={{ height: `${view.space}px` }}>
          {rows.map((index) => (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              class={index === active ? 'virtual-row active' : 'virtual-row'}
              style={{
                gridTemplateColumns: template,
                height: `${rowHeight}px`,
                transform: `translateY(${view.offset + (index - view.first) * rowHeight}px)`,
              }}
              onClick={() => props.onActive(index)}
            >
              {columns.map((column) => (
                <div key={column.title} role="cell" class={cellClass(column)}>
                  {column.cell(rowAt(index))}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface View {
  first: number;
  last: number;
  offset: number;
  space: number;
}

function viewOf(top: number, height: number, count: number, rowHeight: number): View {
  const full = count * rowHeight;
  const space = Math.min(full, heightMax);
  const scale = space > height ? (full - height) / (space - height) : 1;
  const at = Math.min(top * scale, Math.max(full - height, 0));
  const first = Math.max(Math.floor(at / rowHeight) - spareRows, 0);
  const last = Math.min(Math.ceil((at + height) / rowHeight) + spareRows, count) - 1;
  return { first, last, offset: top - (at - first * rowHeight), space };
}

/** Brings the active row into sight, with the same scale. */
function scrollTo(scroller: HTMLElement, active: number, count: number, rowHeight: number): void {
  if (active < 0 || active >= count) return;
  const height = scroller.clientHeight;
  const full = count * rowHeight;
  const space = Math.min(full, heightMax);
  const scale = space > height ? (full - height) / (space - height) : 1;
  const at = scroller.scrollTop * scale;
  const row = active * rowHeight;
  if (row < at) scroller.scrollTop = row / scale;
  else if (row + rowHeight > at + height) scroller.scrollTop = (row + rowHeight - height) / scale;
}

function onKey<Row>(
  event: TargetedKeyboardEvent<HTMLElement>,
  { active, count, onActive, onOpen, onSelect }: Props<Row>,
  pageRows: number,
): void {
  if (event.target !== event.currentTarget) return;
  const moves: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + pageRows,
    PageUp: active - pageRows,
    Home: 0,
    End: count - 1,
  };
  const target = moves[event.key];
  if (target !== undefined && count > 0) onActive(Math.min(Math.max(target, 0), count - 1));
  else if (event.key === 'Enter' && active >= 0) onOpen?.(active);
  else if (event.key === ' ' && active >= 0) onSelect?.(active);
  else return;
  event.preventDefault();
}
