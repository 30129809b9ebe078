/** A resource that is opened when it is first needed, and that can be closed and opened again. */

interface OnDemand<Resource> {
  /** The open resource. Opens it if it is closed. Rejects if `open` did. */
  get(): Promise<Resource>;
  /** Closes the resource, also one that is still opening. The next `get` opens another one. */
  close(): void;
}

/** A closed resource. `open` and `dispose` are called in turn for each opening and closing. */
export function onDemand<Resource>(
  open: () => Promise<Resource>,
  dispose: (resource: Resource) => unknown,
): OnDemand<Resource> {
  let current: Promise<Resource> | undefined;
  return {
    get: () => (current ??= open()),
    close: () => {
      // A resource that failed to open needs no closing; the caller of `get` has received its error.
      current?.then(dispose).catch(() => undefined);
      current = undefined;
    },
  };
}
