/** The short form of `npm run race`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmptyDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { race } from './run.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('64 clients on money for exactly k, over two nodes, are answered exactly k times', async () => {
  const rounds = await race({
    databaseUrl: database.url,
    rounds: 3,
    clients: 64,
    requestsEach: 6,
    moneyFor: (round) => [7, 1, 60][round] ?? 1,
  });
  for (const { moneyFor, statuses, charges, leftMicros } of rounds) {
    const { 200: answered, 402: refused = 0, 503: later = 0 } = statuses;
    expect({ answered, charges, leftMicros }).toEqual({
      answered: moneyFor,
      charges: moneyFor,
      leftMicros: 0,
    });
    expect(refused + later).toBe(64 * 6 - moneyFor);
  }
}, 120_000);
