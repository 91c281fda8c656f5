import { useState } from 'preact/hooks';
import { createIndex, deleteIndex, indexesOf } from '../../api/queries.js';
import { useLoad } from '../../lib/use-load.js';
import { ActionButton } from '../../ui/action-button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field, Form } from '../../ui/form.js';
import { Await, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';

export function IndexList({ db, round }: { db: string; round: number }) {
  const state = useLoad((signal) => indexesOf(db, signal), [db, round]);
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Section
      title="Indexes"
      actions={
        <button type="button" class="small" onClick={() => setIsCreating(true)}>
          Create index
        </button>
      }
    >
      <Await state={state}>
        {(indexes) => (
          <Table
            label="Indexes"
            rows={indexes}
            keyOf={({ ddoc, name }) => `${ddoc}/${name}`}
            columns={[
              { title: 'Name', cell: ({ name }) => <Text value={name} max={60} /> },
              {
                title: 'Fields',
                cell: ({ def }) => (
                  <Text value={def.fields.flatMap((field) => Object.keys(field)).join(', ')} />
                ),
              },
              {
                title: 'Design document',
                isMinor: true,
                cell: ({ ddoc }) => <Text value={ddoc ?? 'built in'} max={40} />,
              },
              {
                title: 'Action',
                cell: (index) =>
                  index.ddoc !== null && (
                    <ActionButton
                      class="small danger-text"
                      title={`Delete the index ${index.name}`}
                      onAction={async () => {
                        await deleteIndex(db, index);
                        state.reload();
                      }}
                    >
                      Delete
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </Await>
      {isCreating && (
        <CreateIndex
          db={db}
          onClose={() => {
            setIsCreating(false);
            state.reload();
          }}
        />
      )}
    </Section>
  );
}

function CreateIndex({ db, onClose }: { db: string; onClose: () => void }) {
  const [fields, setFields] = useState('');
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    const list = fields.split(',').map((field) => field.trim());
    await createIndex(
      db,
      list.filter((field) => field !== ''),
      name,
    );
    notify('The index is there. It is filled by the next query.');
    onClose();
  };
  return (
    <Dialog title="Create index" onClose={onClose}>
      <Form onSubmit={create} submit="Create" onCancel={onClose}>
        <Field
          label="Fields"
          value={fields}
          onInput={setFields}
          required
          hint="In order, separated by commas: city, total"
        />
        <Field label="Name" value={name} onInput={setName} hint="Made up by the server where it is empty." />
      </Form>
    </Dialog>
  );
}
