/** Who is signed in on this device: holds the api, and makes a fresh one whenever that changes. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { type Api, createApi } from './client.ts';

interface Session {
  connection: Api['connection'];
  /** The proof that is being asked for before a sensitive act. */
  proof: Api['proof'];
  /** To be called after signing in or out: drops everything that was loaded for the account before. */
  changed: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** Gives the pages their client. `onSignedOut` runs when the service says that the session is over. */
export function SessionProvider({ onSignedOut, children }: { onSignedOut: () => void; children: ReactNode }) {
  const [api, setApi] = useState(() => createApi(onSignedOut));
  useEffect(
    () => () => {
      api.close();
    },
    [api],
  );
  const session = useMemo(
    () => ({
      connection: api.connection,
      proof: api.proof,
      changed: () => {
        setApi(createApi(onSignedOut));
      },
    }),
    [api, onSignedOut],
  );
  return (
    <SessionContext value={session}>
      <Provider value={api.client}>{children}</Provider>
    </SessionContext>
  );
}

/** The session of this page. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession outside SessionProvider');
  return session;
}
