/** The socket of the console opens with the first subscription, and again after it was closed. */
import { describe, expect, it } from 'vitest';
import { onDemand } from './on-demand.ts';

/** A resource that notes what happens to it; each opening has a number. */
function createScene() {
  const events: string[] = [];
  let opened = 0;
  const resource = onDemand(
    async () => {
      opened += 1;
      const number = opened;
      events.push(`open ${number}`);
      return number;
    },
    (number) => events.push(`close ${number}`),
  );
  return { events, resource };
}

describe('a resource on demand', () => {
  it('is opened once for many callers', async () => {
    const { events, resource } = createScene();
    expect(events).toEqual([]);
    expect(await Promise.all([resource.get(), resource.get()])).toEqual([1, 1]);
    expect(events).toEqual(['open 1']);
  });

  it('is open again for callers after a close, as when React repeats effects in development', async () => {
    const { events, resource } = createScene();
    void resource.get();
    resource.close();
    expect(await resource.get()).toBe(2);
    expect(events).toEqual(['open 1', 'open 2', 'close 1']);
  });

  it('is not closed twice, and not opened by a close', async () => {
    const { events, resource } = createScene();
    resource.close();
    await resource.get();
    resource.close();
    resource.close();
    await Promise.resolve();
    expect(events).toEqual(['open 1', 'close 1']);
  });

  it('reports a failed opening to its caller, and closes without an error', async () => {
    const resource = onDemand(
      () => Promise.reject(new Error('no network')),
      () => undefined,
    );
    await expect(resource.get()).rejects.toThrow('no network');
    resource.close();
  });
});
