/** Provides pages with the API client of one account. A sign-in or sign-out creates another client. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { type Api, createApi } from './client.ts';
import { forgetEarly } from './early.ts';

interface Session {
  connection: Api['connection'];
  /** Whether the service answers. */
  reach: Api['reach'];
  /** The pending proof of identity, and the dialogs that can show it. */
  proof: Api['proof'];
  /** Call this after a sign-in or sign-out. It discards all data that was loaded for the previous account. */
  changed: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);

/**
 * Provides the API client to all pages. `onSignedOut` runs when the service reports that the session ended.
 */
export function SessionProvider({ onSignedOut, children }: { onSignedOut: () => void; children: ReactNode }) {
  const [api, setApi] = useState(() => createApi(onSignedOut));
  // In development React runs each effect twice, with its cleanup in between: the client works after `close`.
  useEffect(() => api.close, [api]);
  const session = useMemo(
    () => ({
      connection: api.connection,
      proof: api.proof,
      reach: api.reach,
      changed: () => {
        forgetEarly();
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
