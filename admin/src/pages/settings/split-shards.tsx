import { useEffect, useState } from 'preact/hooks';
import { isUnderWay, partsOfShard, readResharding, splitShards } from '../../api/resharding.js';
import { plural } from '../../lib/format.js';
import { link } from '../../lib/router.js';
import { useInterval, useLoad } from '../../lib/use-load.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Form, Select } from '../../ui/form.js';

const refreshMs = 1000;

interface Props {
  db: string;
  ranges: string[];
  /** The ranges are others now. */
  onSplit: () => void;
}

/** Splits one range of the database in two, or each of them, and tells how far it is. */
export function SplitShards({ db, ranges, onSplit }: Props) {
  const [chosen, setChosen] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const state = useLoad(readResharding, []);
  const jobs = (state.data?.jobs ?? []).filter(({ source }) => partsOfShard(source).db === db);
  const underWay = jobs.filter(isUnderWay).length;
  const completed = jobs.filter(({ job_state: state }) => state === 'completed').length;
  useInterval(() => underWay > 0 && state.reload(), refreshMs);
  useEffect(onSplit, [completed]);
  // The chosen range no longer exists once it was split.
  const range = ranges.includes(chosen) ? chosen : '';
  return (
    <>
      <Form
        submit="Split…"
        onSubmit={() => {
          setIsAsking(true);
          return Promise.resolve();
        }}
      >
        <Select
          label="Split in two"
          value={range}
          options={[['', 'every range'] as const, ...ranges.map((each) => [each, each] as const)]}
          onChange={setChosen}
        />
      </Form>
      {jobs.length > 0 && (
        <p class="quiet" role="status">
          {underWay > 0
            ? `${plural(underWay, 'split')} under way.`
            : `${plural(completed, 'split')} completed.`}{' '}
          <a href={link(['server'])}>All jobs</a>
        </p>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Split shards?"
          submit="Split"
          onConfirm={async () => {
            await splitShards(db, range === '' ? undefined : range);
            state.reload();
          }}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {range === '' ? `Each of ${plural(ranges.length, 'range')}` : range} is divided in two while
            everybody goes on. Ranges can't be joined again.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
