/** Holds the API client of the signed-in user, and creates a new one when the user changes. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { type Api, createApi } from './client.ts';

interface Session {
  connection: Api['connection'];
  /** The pending proof of identity; undefined if there is none. */
  proof: Api['proof'];
  /** Call this after signing in or out: it drops all data that was loaded for the previous account. */
  changed: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);

/**
 * Provides the API client to all pages. `onSignedOut` runs when the service reports that the session ended.
 */
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

/** Returns the session. Throws outside SessionProvider. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession needs a SessionProvider around it.');
  return session;
}
