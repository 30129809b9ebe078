/**
 * Toasts: a short confirmation with at most one action. Errors that need reading are not toasts. What draws
 * them loads with the first one.
 */
import { lazy, type ReactNode, Suspense } from 'react';
import { createStore, useStore } from './store.ts';

export interface ToastMessage {
  text: string;
  failed?: boolean;
  action?: { word: string; run: () => void };
}

const said = createStore<readonly ToastMessage[]>([]);
const ToastLayer = lazy(async () => ({ default: (await import('./toast-layer.tsx')).ToastLayer }));

/** Shows a toast; it stays while hovered or focused. */
export function useToast(): (message: ToastMessage) => void {
  return say;
}

function say(message: ToastMessage): void {
  said.set([...said.get(), message]);
}

/** Makes room for toasts above everything inside it. */
export function ToastHost({ children }: { children: ReactNode }) {
  const messages = useStore(said);
  return (
    <>
      {children}
      <Suspense>{messages.length > 0 && <ToastLayer messages={messages} />}</Suspense>
    </>
  );
}
