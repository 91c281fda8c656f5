import { useState } from 'preact/hooks';
import { Dialog } from '../ui/dialog.js';
import { Field, Form } from '../ui/form.js';
import { Text } from '../ui/text.js';

export interface Person {
  name: string;
  password: string;
  roles: string[];
}

interface Props {
  title: string;
  /** Undefined for somebody new. */
  person: { name: string; roles: string[] } | undefined;
  hasRoles: boolean;
  onSave: (person: Person) => Promise<void>;
  onClose: () => void;
}

export function PersonDialog({ title, person, hasRoles, onSave, onClose }: Props) {
  const [name, setName] = useState(person?.name ?? '');
  const [password, setPassword] = useState('');
  const [roles, setRoles] = useState((person?.roles ?? []).join(', '));
  const needsPassword = person === undefined || !hasRoles;
  const list = roles
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => onSave({ name, password, roles: list })} submit="Save" onCancel={onClose}>
        {person === undefined ? (
          <Field label="Name" value={name} onInput={setName} required />
        ) : (
          <p>
            <Text value={name} />
          </p>
        )}
        <Field
          label="Password"
          value={password}
          onInput={setPassword}
          isSecret
          autocomplete="new-password"
          required={needsPassword}
          hint={needsPassword ? undefined : 'Stays as it is where this is empty.'}
        />
        {hasRoles && <Field label="Roles" value={roles} onInput={setRoles} hint="Separated by commas." />}
      </Form>
    </Dialog>
  );
}
