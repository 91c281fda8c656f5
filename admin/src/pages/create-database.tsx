import { useState } from 'preact/hooks';
import { createDatabase } from '../api/databases.js';
import { navigate } from '../lib/router.js';
import { Dialog } from '../ui/dialog.js';
import { Checkbox, Field, Form } from '../ui/form.js';

export function CreateDatabase({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [q, setQ] = useState('');
  const [isPartitioned, setIsPartitioned] = useState(false);
  const create = async (): Promise<void> => {
    await createDatabase(name, q, isPartitioned);
    navigate(['db', name]);
  };
  return (
    <Dialog title="Create database" onClose={onClose}>
      <Form onSubmit={create} submit="Create" onCancel={onClose}>
        <Field
          label="Name"
          value={name}
          onInput={setName}
          required
          hint="A lower-case letter first, then also digits and _ $ ( ) + / -"
        />
        <Field
          label="Shards"
          value={q}
          onInput={setQ}
          inputMode="numeric"
          placeholder="as the server is configured"
          hint="How many parts the database is kept in: 1 to 256."
        />
        <Checkbox
          label="Partitioned: ids are written partition:name"
          isChecked={isPartitioned}
          onChange={setIsPartitioned}
        />
      </Form>
    </Dialog>
  );
}
