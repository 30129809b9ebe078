/**
 * Toasts: short messages that disappear by themselves. An error that the user must read is a banner instead.
 */
import { lazy, type ReactNode, Suspense } from 'react';
import { createStore, useStore } from './store.ts';
import type { ToastMessage } from './toast-message.ts';

const pending = createStore<readonly ToastMessage[]>([]);
const ToastLayer = lazy(async () => ({ default: (await import('./toast-layer.tsx')).ToastLayer }));

/** Returns a function that shows a toast. Toasts stay while hovered or focused. */
export function useToast(): (message: ToastMessage) => void {
  return show;
}

function show(message: ToastMessage): void {
  pending.set([...pending.get(), message]);
}

/** Renders its children, and toasts above them. */
export function ToastHost({ children }: { children: ReactNode }) {
  const messages = useStore(pending);
  return (
    <>
      {children}
      <Suspense>{messages.length > 0 && <ToastLayer messages={messages} />}</Suspense>
    </>
  );
}
