/** Fills a database with generated users, keys and requests in one transaction. */
import pg from 'pg';
import { seedStatements } from './statements.ts';
import type { SeedSize } from './statements.ts';

/** Number of real users that a fresh installation may have: its administrator. */
const REAL_USERS_MAX = 1;
const BATCHES_MAX = 255;

/**
 * Adds a batch of generated data, and prints how long each step takes. Throws for a database with real users
 * (a seeded database may be seeded again) or without tables, and for fewer keys than users.
 */
export async function seedDatabase(
  databaseUrl: string,
  size: SeedSize,
  print: (line: string) => void,
): Promise<void> {
  if (size.users < 1 || size.keys < size.users || size.usage < 0)
    throw new Error('Give at least one user, and at least as many keys as users.');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const batch = await nextBatch(client);
    await client.query('begin');
    await client.query("select setseed(0.42), set_config('work_mem', '256MB', true)");
    for (const { title, text } of seedStatements(batch, size)) {
      const startedAt = performance.now();
      await client.query(text);
      print(`${title}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    }
    await client.query('commit');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

async function nextBatch(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ migrated: boolean }>(
    "select to_regclass('public.usage_request') is not null as migrated",
  );
  if (!rows[0]?.migrated)
    throw new Error('The database has no tables. Start the control plane on it once, then seed it.');
  const { rows: counts } = await client.query<{ batches: number; real: number }>(
    `select (select count(*)::integer from data_plane_node where name like 'seed-%') as batches,
      (select count(*)::integer from users where email not like 'seed-%@example.com') as real`,
  );
  const { batches = 0, real = 0 } = counts[0] ?? {};
  if (batches === 0 && real > REAL_USERS_MAX)
    throw new Error('This database has real users. Seed an empty database.');
  if (batches >= BATCHES_MAX)
    throw new Error(`This database already has ${BATCHES_MAX} batches. Seed an empty database.`);
  return batches + 1;
}
