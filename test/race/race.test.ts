/** A short race. The proof tier runs longer ones, and `npm run race` any number of rounds. */
import { afterAll, beforeAll, test } from 'vitest';
import { createTestDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { expectExact } from './exact.ts';
import { race } from './run.ts';

const CLIENTS = 64;
const REQUESTS_EACH = 4;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('64 clients over two nodes with credit for exactly k requests get exactly k answers', async () => {
  const rounds = await race({
    databaseUrl: database.url,
    rounds: 2,
    clients: CLIENTS,
    requestsEach: REQUESTS_EACH,
    moneyFor: (round) => [7, 1][round] ?? 1,
  });
  for (const round of rounds) expectExact(round, CLIENTS * REQUESTS_EACH);
}, 120_000);
