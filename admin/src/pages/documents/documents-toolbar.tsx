import { useState } from 'preact/hooks';
import type { DocRow } from '../../api/doc-pages.js';
import { setQuery } from '../../lib/router.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox } from '../../ui/form.js';
import { visible } from '../../ui/text.js';
import { commonFields } from './columns.js';

interface Props {
  mode: 'table' | 'json';
  query: URLSearchParams;
  fields: readonly DocRow[];
  selectedCount: number;
  onReload: () => void;
}

const fieldsOffered = 30;

export function DocumentsToolbar({ mode, query, fields, selectedCount, onReload }: Props) {
  const [isChoosing, setIsChoosing] = useState(false);
  const show = (as: string | undefined) => () => setQuery({ as });
  return (
    <div class="toolbar">
      <input
        class="search"
        type="search"
        aria-label="Jump to id"
        placeholder="Jump to id"
        value={query.get('id') ?? ''}
        onInput={(event) => setQuery({ id: event.currentTarget.value || undefined })}
      />
      <div class="segmented" role="group" aria-label="Show documents as">
        <button type="button" aria-pressed={mode === 'table'} onClick={show(undefined)}>
          Table
        </button>
        <button type="button" aria-pressed={mode === 'json'} onClick={show('json')}>
          JSON
        </button>
      </div>
      {mode === 'table' && (
        <button type="button" onClick={() => setIsChoosing(true)}>
          Columns
        </button>
      )}
      <button type="button" onClick={onReload}>
        Reload
      </button>
      <span class="grow" />
      {selectedCount > 0 && (
        <button type="button" class="danger-text" onClick={() => setQuery({ dialog: 'delete' })}>
          Delete {selectedCount} selected
        </button>
      )}
      <button type="button" onClick={() => setQuery({ dialog: 'import' })}>
        Import
      </button>
      <button type="button" onClick={() => setQuery({ dialog: 'export' })}>
        Export
      </button>
      {isChoosing && <ColumnsDialog rows={fields} query={query} onClose={() => setIsChoosing(false)} />}
    </div>
  );
}

interface ColumnsProps {
  rows: readonly DocRow[];
  query: URLSearchParams;
  onClose: () => void;
}

function ColumnsDialog({ rows, query, onClose }: ColumnsProps) {
  const shown = query.get('columns')?.split(',') ?? commonFields(rows);
  const offered = [...new Set([...shown, ...commonFields(rows, fieldsOffered)])];
  const toggle = (name: string, isShown: boolean): void => {
    const next = isShown ? [...shown, name] : shown.filter((each) => each !== name);
    setQuery({ columns: next.join(',') || undefined });
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="form">
        {offered.map((name) => (
          <Checkbox
            key={name}
            label={visible(name)}
            isChecked={shown.includes(name)}
            onChange={(isShown) => toggle(name, isShown)}
          />
        ))}
      </div>
    </Dialog>
  );
}
