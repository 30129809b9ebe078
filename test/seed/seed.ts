/** Fills a database with users, keys and requests, all in one transaction. */
import pg from 'pg';
import { seedStatements } from './statements.ts';
import type { SeedSize } from './statements.ts';

/** Users an installation has before anybody registers: its administrator. */
const OWN_USERS_MAX = 1;
const BATCHES_MAX = 255;

/**
 * Adds a batch. Throws for a database that holds users of its own (a seeded one may be seeded again), that
 * was never migrated, and for fewer keys than users.
 */
export async function seedDatabase(
  databaseUrl: string,
  size: SeedSize,
  print: (line: string) => void,
): Promise<void> {
  if (size.users < 1 || size.keys < size.users || size.usage < 0)
    throw new Error('Ask for at least one user, and for at least as many keys as users.');
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
    throw new Error('Start the control plane on this database once: it makes the tables.');
  const { rows: counts } = await client.query<{ batches: number; own: number }>(
    `select (select count(*)::integer from data_plane_node where name like 'seed-%') as batches,
      (select count(*)::integer from users where email not like 'seed-%@example.com') as own`,
  );
  const { batches = 0, own = 0 } = counts[0] ?? {};
  if (batches === 0 && own > OWN_USERS_MAX)
    throw new Error('This database holds users of its own. Seed an empty one.');
  if (batches >= BATCHES_MAX) throw new Error(`A database takes at most ${BATCHES_MAX} batches.`);
  return batches + 1;
}
