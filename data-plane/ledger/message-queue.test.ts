/** The message queue: its limit, its order, its back-off and its end. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MessageQueue } from './message-queue.ts';

/** A queue for two messages at once. Messages have names, and each is under way until `finish` ends it. */
class NamedMessages {
  readonly sent: string[] = [];
  readonly withWaitingClient = new Set<string>();
  readonly #queue = new MessageQueue(2);
  readonly #results = new Map<string, (succeeded: boolean) => void>();

  add(...names: string[]): void {
    for (const name of names)
      this.#queue.add({
        hasWaitingClient: () => this.withWaitingClient.has(name),
        send: () => {
          this.sent.push(name);
          return new Promise((resolve) => void this.#results.set(name, resolve));
        },
      });
  }

  async finish(name: string, succeeded: boolean): Promise<void> {
    this.#results.get(name)?.(succeeded);
    await nextTurn();
  }

  stop(): void {
    this.#queue.stop();
  }
}

describe('a message queue', () => {
  it('sends messages in the order in which they came, up to its limit at once', async () => {
    const messages = new NamedMessages();
    messages.add('a', 'b', 'c', 'd');
    expect(messages.sent).toEqual(['a', 'b']);
    await messages.finish('b', true);
    expect(messages.sent).toEqual(['a', 'b', 'c']);
    await messages.finish('a', true);
    await messages.finish('c', true);
    await messages.finish('d', true);
    messages.add('e', 'f', 'g');
    expect(messages.sent).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('sends a message first once a client waits for it', async () => {
    const messages = new NamedMessages();
    messages.add('a', 'b', 'c', 'd');
    messages.withWaitingClient.add('d');
    await messages.finish('a', true);
    expect(messages.sent).toEqual(['a', 'b', 'd']);
  });

  it('searches only its first thousand messages for one with a waiting client', async () => {
    const messages = new NamedMessages();
    messages.add('a', 'b', ...Array.from({ length: 1_001 }, (_, at) => `c${at}`));
    messages.withWaitingClient.add('c1000');
    await messages.finish('a', true);
    expect(messages.sent.at(-1)).toBe('c0');
    await messages.finish('b', true);
    expect(messages.sent.at(-1)).toBe('c1000');
  });

  it('reuses the slot of a failed message only after a back-off', async () => {
    const messages = new NamedMessages();
    messages.add('a', 'b', 'c');
    await messages.finish('a', false);
    expect(messages.sent).toEqual(['a', 'b']);
    await expect.poll(() => messages.sent).toEqual(['a', 'b', 'c']);
  });

  it('sends nothing more after it is stopped', async () => {
    const messages = new NamedMessages();
    messages.add('a', 'b', 'c');
    messages.stop();
    await messages.finish('a', true);
    expect(messages.sent).toEqual(['a', 'b']);
  });
});
