/** Values outside React that components can subscribe to, and hooks over media queries. */
import { useSyncExternalStore } from 'react';

export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls the listener on every change until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** Creates a store. Setting an equal value does not notify listeners. */
export function createStore<Value>(first: Value): Store<Value> {
  let current = first;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** The value of a store; re-renders on change. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get, store.get);
}

/** Whether a media query matches; re-renders on change. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => {
        media.removeEventListener('change', listener);
      };
    },
    () => matchMedia(query).matches,
    // The build does not know the device. Where the difference matters, it renders both layouts.
    () => false,
  );
}

/** The phone layout. The same width as `max-sm` of the styles, in their unit: it depends on the font size. */
export const PHONE = '(width < 40rem)';

/** Whether the page uses the phone layout. */
export function usePhone(): boolean {
  return useMedia(PHONE);
}
