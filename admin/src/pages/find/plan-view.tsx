import { fieldsForIndex, type Explanation, type IndexDefinition } from '../../api/queries.js';
import { createIndex } from '../../api/queries.js';
import { preview } from '../../lib/preview.js';
import { ActionButton } from '../../ui/action-button.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';

/** Why an index was not taken, in the words of docs/find.md. */
const reasons: Record<string, string> = {
  is_partial: 'It holds only some documents and the query does not name it.',
  scope_mismatch: 'The query is about one partition and the index about all, or the other way round.',
  field_mismatch: 'Documents that match might lack one of its fields.',
  sort_order_mismatch: 'It has another order than the query asks for.',
  excluded_by_user: 'The query names another index.',
  unfavored_type: 'An index is better than reading all documents.',
  less_overlap: 'Its first fields say less of what the query asks.',
  too_many_fields: 'It has more fields than the one that was taken.',
  alphabetically_comes_after: 'It would do as well; the first by name was taken.',
};

const rangesShown = 3;

interface Props {
  db: string;
  query: string;
  plan: Explanation;
  onIndex: () => void;
}

/** Draws the answer of `_explain`: the index that is read, in which ranges, and why the others are not. */
export function PlanView({ db, query, plan, onIndex }: Props) {
  const { index, covering, index_candidates: candidates = [] } = plan;
  const fields = fieldsForIndex(query, plan);
  const isScan = index === null || index.type === 'special';
  const create = async (): Promise<void> => {
    await createIndex(db, fields, fields.join('-'));
    notify('The index is there. It is filled by the next query.');
    onIndex();
  };
  return (
    <>
      <ol class="plan">
        <li class="chosen">
          {index === null ? (
            <strong>No index can answer this query.</strong>
          ) : (
            <>
              <IndexName index={index} /> <span class="badge good">taken</span>
              <Ranges plan={plan} />
            </>
          )}
        </li>
        <li>
          <h3>{covering ? 'Documents are not read' : 'Documents are read'}</h3>
          <p class="quiet">
            {covering
              ? 'The index holds every field that the query is about.'
              : 'Each one that the index names is loaded and checked against the selector.'}
          </p>
        </li>
      </ol>
      {candidates.length > 0 && (
        <>
          <h3>Not taken</h3>
          <ul class="plan">
            {candidates.map(({ index: other, analysis }) => (
              <li key={`${other.ddoc}/${other.name}`}>
                <IndexName index={other} />
                {analysis.reasons.map(({ name }) => (
                  <p key={name} class="quiet">
                    {reasons[name] ?? name}
                  </p>
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
      {isScan && fields.length > 0 && (
        <div class="note row">
          <span class="grow">An index on {fields.join(', ')} would spare reading every document.</span>
          <ActionButton class="primary" onAction={create}>
            Create this index
          </ActionButton>
        </div>
      )}
    </>
  );
}

export function IndexName({ index }: { index: IndexDefinition }) {
  const fields = index.def.fields.flatMap((field) => Object.keys(field));
  return (
    <>
      <h3>{index.type === 'special' ? 'All documents, by id' : <Text value={index.name} max={60} />}</h3>
      {index.type !== 'special' && (
        <p>
          <code>
            <Text value={fields.join(', ')} />
          </code>
        </p>
      )}
    </>
  );
}

function Ranges({ plan }: { plan: Explanation }) {
  const ranges = plan.ranges ?? (plan.mrargs ? [plan.mrargs] : []);
  return (
    <ul class="plain">
      {ranges.slice(0, rangesShown).map((range, at) => (
        <li key={at} class="mono">
          <Text value={`${preview(range.start_key, 60)} … ${preview(range.end_key, 60)}`} />
        </li>
      ))}
      {ranges.length > rangesShown && <li class="quiet">and {ranges.length - rangesShown} more ranges</li>}
    </ul>
  );
}
