import { useState } from 'preact/hooks';
import { readShards, shardOf } from '../../api/settings.js';
import { plural } from '../../lib/format.js';
import { useIsAdmin } from '../../lib/session-context.js';
import { useLoad } from '../../lib/use-load.js';
import { Field, Form } from '../../ui/form.js';
import { Await, Section } from '../../ui/page.js';
import { SplitShards } from './split-shards.js';

/** Draws the ranges of hashes that the database is divided into. */
export function ShardsSection({ db }: { db: string }) {
  const state = useLoad((signal) => readShards(db, signal), [db]);
  const isAdmin = useIsAdmin();
  const [id, setId] = useState('');
  const [found, setFound] = useState<string>();
  return (
    <Section title="Shards">
      <Await state={state}>
        {(shards) => {
          const ranges = Object.entries(shards).sort();
          const nodes = new Set(ranges.flatMap(([, each]) => each));
          return (
            <>
              <p class="quiet">
                {plural(ranges.length, 'range')} of hashes on {plural(nodes.size, 'node')}:{' '}
                {[...nodes].join(', ')}
              </p>
              <ul class="shards" aria-label="Shards">
                {ranges.map(([range, holders]) => (
                  <li
                    key={range}
                    class={range === found ? 'found' : ''}
                    style={{ flexGrow: widthOf(range) }}
                    title={`${range}: ${holders.join(', ')}`}
                  >
                    <span class="visually-hidden">{`${range} on ${holders.join(', ')}`}</span>
                    <span aria-hidden="true">{range.slice(0, 2)}</span>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Await>
      {isAdmin && state.data && (
        <SplitShards db={db} ranges={Object.keys(state.data).sort()} onSplit={state.reload} />
      )}
      <Form submit="Show its shard" onSubmit={async () => setFound((await shardOf(db, id)).range)}>
        <Field
          label="Where is a document?"
          value={id}
          onInput={setId}
          required
          placeholder="its id"
          hint={found && `In the range ${found}.`}
        />
      </Form>
    </Section>
  );
}

function widthOf(range: string): number {
  const [from = 0, to = 0] = range.split('-').map((part) => Number.parseInt(part, 16));
  return (to - from + 1) / 0x1000000;
}
