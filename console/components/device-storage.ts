/** Values that the browser keeps on this device, such as the theme. */

/** Stores a value. If the browser forbids storage, nothing is stored and the value is lost with the page. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The browser forbids storage.
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
