import type { FindAnswer } from '../../api/queries.js';
import { formatCount } from '../../lib/format.js';
import { preview } from '../../lib/preview.js';
import { DocTable } from '../doc-table.js';

const statistics: [name: string, title: string][] = [
  ['results_returned', 'Found'],
  ['total_keys_examined', 'Keys read'],
  ['total_docs_examined', 'Documents read'],
  ['execution_time_ms', 'Milliseconds'],
];

export function FindResults({ db, answer, onNext }: { db: string; answer: FindAnswer; onNext: () => void }) {
  const { docs, warning, execution_stats: stats = {}, bookmark } = answer;
  return (
    <>
      {warning && <p class="note">{warning}</p>}
      <dl class="facts" aria-label="Statistics">
        {statistics.map(([name, title]) => (
          <div key={name}>
            <dt>{title}</dt>
            <dd>{formatCount(Math.round(Number(preview(stats[name] ?? 0, 40)) * 10) / 10)}</dd>
          </div>
        ))}
      </dl>
      <DocTable db={db} docs={docs} />
      {docs.length > 0 && bookmark !== 'nil' && (
        <div>
          <button type="button" onClick={onNext}>
            Next page
          </button>
        </div>
      )}
    </>
  );
}
