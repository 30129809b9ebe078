/** A longer race, for amounts of money that change every day. */
import { afterAll, beforeAll, test } from 'vitest';
import { randomOf } from '../chaos/random.ts';
import { createTestDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { PROOF_SEED } from '../seeds.ts';
import { expectExact } from './exact.ts';
import { race } from './run.ts';

const ROUNDS = 12;
const CLIENTS = 64;
const REQUESTS_EACH = 10;
const MONEY_MAX = 100;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test(`64 clients with credit for exactly k requests get exactly k answers (seed ${PROOF_SEED})`, async () => {
  const random = randomOf(PROOF_SEED);
  const rounds = await race({
    databaseUrl: database.url,
    rounds: ROUNDS,
    clients: CLIENTS,
    requestsEach: REQUESTS_EACH,
    moneyFor: () => random.between(1, MONEY_MAX),
  });
  for (const round of rounds) expectExact(round, CLIENTS * REQUESTS_EACH);
}, 600_000);
