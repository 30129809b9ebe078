/**
 * `npm run seed -- --users N --keys N --usage N`: fills the database at DATABASE_URL with generated users,
 * keys and requests, whose ledger keeps every invariant. Refuses a database with real users.
 */
import { parseArgs } from 'node:util';
import { seedDatabase } from './seed.ts';

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    keys: { type: 'string', default: '100000' },
    usage: { type: 'string', default: '1000000' },
  },
});
const databaseUrl = process.env['DATABASE_URL'];
const size = { users: Number(values.users), keys: Number(values.keys), usage: Number(values.usage) };

try {
  if (!databaseUrl) throw new Error('DATABASE_URL is not set. Set it to the database to fill.');
  if (!Object.values(size).every(Number.isSafeInteger))
    throw new Error('Give whole numbers to --users, --keys and --usage.');
  await seedDatabase(databaseUrl, size, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
