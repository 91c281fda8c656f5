import { useState } from 'preact/hooks';
import { changePassword, isServerAdmin, logOut } from '../api/session.js';
import { useSession } from '../lib/session-context.js';
import { applyTheme, readTheme, type Theme } from '../lib/theme.js';
import { ActionButton } from '../ui/action-button.js';
import { Field, Form, Select } from '../ui/form.js';
import { Page, Section } from '../ui/page.js';
import { Text } from '../ui/text.js';
import { notify } from '../ui/toast.js';

export function AccountPage() {
  const { session, reload } = useSession();
  const { name, roles } = session.userCtx;
  const [theme, setTheme] = useState(readTheme);
  const leave = async (): Promise<void> => {
    await logOut();
    await reload();
  };
  return (
    <Page title="Account" actions={<ActionButton onAction={leave}>Log out</ActionButton>}>
      <div class="columns">
        <Section title="Who you are">
          <p>
            <Text value={name ?? ''} />, {isServerAdmin(session) ? 'a server admin' : 'a user'}.
          </p>
          <p class="quiet">Roles: {roles.length === 0 ? 'none' : <Text value={roles.join(', ')} />}</p>
          <Select
            label="Theme"
            value={theme}
            options={[
              ['system', 'As the system'],
              ['light', 'Light'],
              ['dark', 'Dark'],
            ]}
            onChange={(value) => {
              applyTheme(value as Theme);
              setTheme(value as Theme);
            }}
          />
        </Section>
        <Section title="Change password">
          <PasswordForm />
        </Section>
      </div>
    </Page>
  );
}

function PasswordForm() {
  const { session } = useSession();
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const change = async (): Promise<void> => {
    if (password !== repeated) throw new Error('The two passwords are not the same.');
    await changePassword(session, password);
    setPassword('');
    setRepeated('');
    notify('Password changed. Your other sessions have ended.');
  };
  const secret = { isSecret: true, autocomplete: 'new-password', required: true } as const;
  return (
    <Form onSubmit={change} submit="Change password">
      <Field label="New password" value={password} onInput={setPassword} {...secret} />
      <Field label="New password again" value={repeated} onInput={setRepeated} {...secret} />
    </Form>
  );
}
