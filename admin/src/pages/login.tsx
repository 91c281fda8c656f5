import { useState } from 'preact/hooks';
import { logIn } from '../api/session.js';
import { Dialog } from '../ui/dialog.js';
import { Field, Form } from '../ui/form.js';
import { Text } from '../ui/text.js';

function LoginForm({ name: known = '', onLogin }: { name?: string; onLogin: () => Promise<void> }) {
  const [name, setName] = useState(known);
  const [password, setPassword] = useState('');
  const [token, setToken] = useState('');
  const [needsToken, setNeedsToken] = useState(false);
  const submit = async (): Promise<void> => {
    await logIn(name, password, token);
    await onLogin();
  };
  return (
    <Form onSubmit={submit} submit="Log in">
      <Field label="Name" name="user" value={name} onInput={setName} autocomplete="username" required />
      <Field
        label="Password"
        name="password"
        isSecret
        value={password}
        onInput={setPassword}
        autocomplete="current-password"
        required
      />
      {needsToken ? (
        <Field
          label="Code of the second factor"
          value={token}
          onInput={setToken}
          autocomplete="one-time-code"
          inputMode="numeric"
        />
      ) : (
        <p>
          <button type="button" class="ghost small" onClick={() => setNeedsToken(true)}>
            I have a second factor
          </button>
        </p>
      )}
    </Form>
  );
}

export function LoginPage({ onLogin }: { onLogin: () => Promise<void> }) {
  // Browsers that were refused are sent here with the address they wanted and the reason.
  const sent = new URLSearchParams(location.search);
  const target = sent.get('return');
  const finish = async (): Promise<void> => {
    if (target !== null && /^\/(?![/\\])/.test(target)) location.assign(target);
    else await onLogin();
  };
  return (
    <main class="login">
      <div class="section">
        <h1 class="brand">
          <img src="./icon.svg" alt="" /> Tuffet
        </h1>
        {sent.has('reason') && (
          <p class="note">
            <Text value={sent.get('reason')!} />
          </p>
        )}
        <LoginForm onLogin={finish} />
        <p class="hint">
          The first admin is named when the server is started: <code>--admin NAME:PASSWORD</code>.
        </p>
      </div>
    </main>
  );
}

/** Asks again for the password without leaving the page, so that nothing that was typed is lost. */
export function LoginDialog({ name, onLogin }: { name: string; onLogin: () => Promise<void> }) {
  return (
    <Dialog title="Your session has ended" onClose={() => void onLogin()}>
      <LoginForm name={name} onLogin={onLogin} />
    </Dialog>
  );
}
