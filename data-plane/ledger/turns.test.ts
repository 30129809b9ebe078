/** What a node owes the control plane is said a few at a time, first what a client waits for. */
import { setImmediate as soon } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

/** Sayings by their names, each under way until it is ended. */
class Sayings {
  readonly said: string[] = [];
  readonly waitedFor = new Set<string>();
  readonly #turns = new Turns(2);
  readonly #ends = new Map<string, (ofUse: boolean) => void>();

  add(...names: string[]): void {
    for (const name of names)
      this.#turns.add({
        isWaitedFor: () => this.waitedFor.has(name),
        say: () => {
          this.said.push(name);
          return new Promise((resolve) => void this.#ends.set(name, resolve));
        },
      });
  }

  async end(name: string, ofUse: boolean): Promise<void> {
    this.#ends.get(name)?.(ofUse);
    await soon();
  }

  stop(): void {
    this.#turns.stop();
  }
}

test('each has its turn, so many at once, in the order in which they came', async () => {
  const sayings = new Sayings();
  sayings.add('a', 'b', 'c', 'd');
  expect(sayings.said).toEqual(['a', 'b']);
  await sayings.end('b', true);
  expect(sayings.said).toEqual(['a', 'b', 'c']);
  await sayings.end('a', true);
  await sayings.end('c', true);
  await sayings.end('d', true);
  sayings.add('e', 'f', 'g');
  expect(sayings.said).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('what a client has begun to wait for goes first', async () => {
  const sayings = new Sayings();
  sayings.add('a', 'b', 'c', 'd');
  sayings.waitedFor.add('d');
  await sayings.end('a', true);
  expect(sayings.said).toEqual(['a', 'b', 'd']);
});

test('among very many it is looked for in the first thousand', async () => {
  const sayings = new Sayings();
  sayings.add('a', 'b', ...Array.from({ length: 1_001 }, (_, at) => `c${at}`));
  sayings.waitedFor.add('c1000');
  await sayings.end('a', true);
  expect(sayings.said.at(-1)).toBe('c0');
  await sayings.end('b', true);
  expect(sayings.said.at(-1)).toBe('c1000');
});

test('one that was in vain keeps its place for a while, and then the next one has it', async () => {
  const sayings = new Sayings();
  sayings.add('a', 'b', 'c');
  await sayings.end('a', false);
  expect(sayings.said).toEqual(['a', 'b']);
  await expect.poll(() => sayings.said).toEqual(['a', 'b', 'c']);
});

test('nothing has its turn any more after the end', async () => {
  const sayings = new Sayings();
  sayings.add('a', 'b', 'c');
  sayings.stop();
  await sayings.end('a', true);
  expect(sayings.said).toEqual(['a', 'b']);
});
