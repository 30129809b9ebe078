/** Idempotency keys, which make a repeated mutation harmless. */
import { useRef } from 'react';

const RANDOM_BYTES = 16;

/**
 * Returns a function that gives the idempotency key of a mutation. Equal values give the same key, so a retry
 * after a lost answer cannot act twice; other values give a new key.
 */
export function useIdempotencyKey(): (values: object) => string {
  const last = useRef<{ values: string; key: string }>(undefined);
  return (values) => {
    const text = JSON.stringify(values);
    if (last.current?.values !== text) last.current = { values: text, key: randomKey() };
    return last.current.key;
  };
}

/** A random idempotency key: 32 hexadecimal digits. `crypto.randomUUID` does not exist over plain http. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
