import { useCallback, useEffect, useState } from 'preact/hooks';
import { onSessionEnd } from './api/http.js';
import { readSession, type Session } from './api/session.js';
import { SessionContext } from './lib/session-context.js';
import { LoginDialog, LoginPage } from './pages/login.js';
import { Shell } from './shell.js';
import { ErrorBox } from './ui/error-box.js';
import { Loading } from './ui/page.js';
import { Toasts } from './ui/toast.js';

export function App() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  const [hasEnded, setHasEnded] = useState(false);
  const reload = useCallback(async () => {
    try {
      setSession(await readSession());
      setError(undefined);
    } catch (problem) {
      // With require_valid_user the server answers 401 to anonymous requests, this one included.
      if ((problem as { status?: number }).status === 401) setSession({ userCtx: { name: null, roles: [] } });
      else setError(problem);
    }
  }, []);
  useEffect(() => void reload(), [reload]);
  const isKnown = session !== undefined && session.userCtx.name !== null;
  useEffect(
    () => onSessionEnd(() => void readSession().then(({ userCtx }) => setHasEnded(userCtx.name === null))),
    [],
  );
  const resume = async (): Promise<void> => {
    await reload();
    setHasEnded(false);
  };
  if (error) {
    return (
      <div class="login">
        <ErrorBox error={error} onRetry={() => void reload()} />
      </div>
    );
  }
  if (session === undefined) return <Loading />;
  return (
    <SessionContext.Provider value={{ session, reload }}>
      {isKnown ? <Shell /> : <LoginPage onLogin={reload} />}
      {isKnown && hasEnded && <LoginDialog name={session.userCtx.name!} onLogin={resume} />}
      <Toasts />
    </SessionContext.Provider>
  );
}
