import { useState } from 'preact/hooks';
import { get } from '../../api/http.js';
import { readSecurity, saveSecurity, type Security } from '../../api/settings.js';
import { useIsAdmin } from '../../lib/session-context.js';
import { useLoad } from '../../lib/use-load.js';
import { whoCan } from '../../lib/who-can.js';
import { Field, Form } from '../../ui/form.js';
import { Await, Section } from '../../ui/page.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';

export function SecuritySection({ db }: { db: string }) {
  const isAdmin = useIsAdmin();
  const state = useLoad((signal) => readSecurity(db, signal), [db]);
  const rule = useLoad(
    (signal) =>
      isAdmin
        ? get<string>(['_node', '_local', '_config', 'couchdb', 'default_security'], undefined, signal)
        : Promise.resolve('everyone'),
    [isAdmin],
  );
  return (
    <Section title="Who can use this database?">
      <Await state={state}>
        {(security) => (
          <>
            <Words security={security} defaultSecurity={rule.data ?? 'everyone'} />
            <SecurityForm key={JSON.stringify(security)} db={db} security={security} onSaved={state.reload} />
          </>
        )}
      </Await>
    </Section>
  );
}

function Words({ security, defaultSecurity }: { security: Security; defaultSecurity: string }) {
  const { read, administer } = whoCan(security, defaultSecurity);
  return (
    <dl class="words">
      <dt>Read and write documents</dt>
      <dd>
        <Text value={read} max={1000} />
      </dd>
      <dt>Change design documents and these settings</dt>
      <dd>
        <Text value={administer} max={1000} />
      </dd>
      <dt>Delete the database</dt>
      <dd>Only server admins.</dd>
    </dl>
  );
}

const split = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

function SecurityForm({ db, security, onSaved }: { db: string; security: Security; onSaved: () => void }) {
  const join = (names: string[] | undefined): string => (names ?? []).join(', ');
  const [values, setValues] = useState({
    memberNames: join(security.members?.names),
    memberRoles: join(security.members?.roles),
    adminNames: join(security.admins?.names),
    adminRoles: join(security.admins?.roles),
  });
  const set = (name: keyof typeof values) => (value: string) => setValues({ ...values, [name]: value });
  const save = async (): Promise<void> => {
    // Members of the object that this form does not know are kept.
    await saveSecurity(db, {
      ...security,
      members: { ...security.members, names: split(values.memberNames), roles: split(values.memberRoles) },
      admins: { ...security.admins, names: split(values.adminNames), roles: split(values.adminRoles) },
    });
    notify('Saved.');
    onSaved();
  };
  const next: Security = {
    members: { names: split(values.memberNames), roles: split(values.memberRoles) },
    admins: { names: split(values.adminNames), roles: split(values.adminRoles) },
  };
  return (
    <Form submit="Save security" onSubmit={save}>
      <div class="columns tight">
        <Field label="Members: users" value={values.memberNames} onInput={set('memberNames')} />
        <Field label="Members: roles" value={values.memberRoles} onInput={set('memberRoles')} />
        <Field label="Admins: users" value={values.adminNames} onInput={set('adminNames')} />
        <Field label="Admins: roles" value={values.adminRoles} onInput={set('adminRoles')} />
      </div>
      <p class="hint">
        Separated by commas. With these, documents can be read by:{' '}
        <Text value={whoCan(next, 'everyone').read} max={500} />
      </p>
    </Form>
  );
}
