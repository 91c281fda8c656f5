import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isServerAdmin, type Session } from '../api/session.js';

interface SessionState {
  session: Session;
  reload: () => Promise<void>;
}

export const SessionContext = createContext<SessionState>({
  session: { userCtx: { name: null, roles: [] } },
  reload: () => Promise.resolve(),
});

export const useSession = (): SessionState => useContext(SessionContext);

export const useIsAdmin = (): boolean => isServerAdmin(useSession().session);
