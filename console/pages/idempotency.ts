/** Keys that make a repeated mutation harmless. */
import { useRef } from 'react';

const RANDOM_BYTES = 16;

/**
 * A function that names an attempt: the same values give the same key, so a repeat after a lost answer
 * cannot act twice;
 * other values give another. `crypto.randomUUID` is not used because plain http has none.
 */
export function useIdempotencyKey(): (values: object) => string {
  const last = useRef<{ values: string; key: string }>(undefined);
  return (values) => {
    const text = JSON.stringify(values);
    if (last.current?.values !== text) last.current = { values: text, key: randomText() };
    return last.current.key;
  };
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
