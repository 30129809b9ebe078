/** Values that the browser keeps on this device, such as the theme. */

/**
 * Stores a value, and returns whether it did. If the browser forbids storage or its storage is full, the
 * value is lost with the page.
 */
export function remember(name: string, value: string): boolean {
  try {
    localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

/** The stored value; undefined if there is none or the browser forbids storage. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}
