/** The buffer of a body, and how the memory of bodies is divided. */
import { describe, expect, it } from 'vitest';
import { CHUNK_AVERAGE_BYTES, FIRST_BUFFER_BYTES, FREE_CHUNKS } from '../limits.ts';
import { SharedBudget } from './shared-budget.ts';
import { Slab, isChunkingFair } from './slab.ts';

describe('a slab', () => {
  it('returns the bytes of all chunks in their order', () => {
    const slab = new Slab(300_000);
    const chunks = Array.from({ length: 3_000 }, (_, at) => Buffer.alloc(1 + (at % 90), at));
    for (const chunk of chunks) slab.append(chunk);
    expect(slab.bytes().equals(Buffer.concat(chunks))).toBe(true);
  });

  it('keeps a single chunk without a copy', () => {
    const slab = new Slab(5);
    const chunk = Buffer.from('hello');
    slab.append(chunk);
    expect(slab.bytes()).toBe(chunk);
  });

  it('grows with what arrives, and never above the announced length', () => {
    const slab = new Slab(30_000_000);
    slab.append(Buffer.alloc(10));
    slab.append(Buffer.alloc(10));
    expect(slab.capacity).toBe(FIRST_BUFFER_BYTES);
    for (let size = 20; size < 30_000_000; size += 99_999) {
      slab.append(Buffer.alloc(Math.min(99_999, 30_000_000 - size)));
      expect(slab.capacity).toBeLessThanOrEqual(Math.max(slab.length * 2, FIRST_BUFFER_BYTES));
    }
    expect([slab.length, slab.capacity]).toEqual([30_000_000, 30_000_000]);
  });
});

describe('chunks', () => {
  it('may be small while they are few, and must have some bytes on average after that', () => {
    expect(isChunkingFair(FREE_CHUNKS, FREE_CHUNKS)).toBe(true);
    const many = FREE_CHUNKS + 1;
    expect(isChunkingFair(many, many * CHUNK_AVERAGE_BYTES - 1)).toBe(false);
    expect(isChunkingFair(many, many * CHUNK_AVERAGE_BYTES)).toBe(true);
  });
});

describe('a shared budget', () => {
  const takeAll = (budget: SharedBudget, walletId: string): number => {
    let held = 0;
    while (budget.take(walletId, 1)) held += 1;
    return held;
  };

  it('gives one wallet a half, and leaves another one a share of the rest', () => {
    const budget = new SharedBudget({ total: 1_200, reserve: 0, floor: 0 });
    expect([takeAll(budget, 'one'), takeAll(budget, 'two'), takeAll(budget, 'three')]).toEqual([
      600, 300, 150,
    ]);
    budget.give('one', 600);
    expect(budget.used).toBe(450);
    expect(budget.take('two', 75)).toBe(true);
  });

  it('gives every wallet its floor from the reserve', () => {
    const budget = new SharedBudget({ total: 100, reserve: 20, floor: 10 });
    expect(takeAll(budget, 'one')).toBe(50);
    const wallets = Array.from({ length: 20 }, (_, at) => `wallet ${at}`);
    const held = wallets.map((walletId) => takeAll(budget, walletId));
    expect(held.slice(0, 6)).toEqual([25, 12, 10, 10, 10, 3]);
    expect(budget.used).toBe(120);
  });
});
