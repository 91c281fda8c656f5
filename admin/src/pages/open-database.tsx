import { useState } from 'preact/hooks';
import { databaseInfo } from '../api/databases.js';
import { navigate } from '../lib/router.js';
import { Field, Form } from '../ui/form.js';
import { Section } from '../ui/page.js';

/** For users who may read some databases, but not the list of all. */
export function OpenDatabase() {
  const [name, setName] = useState('');
  const open = async (): Promise<void> => {
    await databaseInfo(name);
    navigate(['db', name]);
  };
  return (
    <Section title="Open a database by its name">
      <Form onSubmit={open} submit="Open">
        <Field label="Name" value={name} onInput={setName} required />
      </Form>
    </Section>
  );
}
