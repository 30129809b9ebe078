/**
 * Command that checks all invariants of the ledger at DATABASE_URL. It prints each violation as a line of
 * JSON and exits with 1 if there is one.
 */
import { createOrm } from '../database/orm.ts';
import { readEnvironment } from '../process/environment.ts';
import { runProgram } from '../process/program.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';

/** Runs the check, prints its result and returns the exit code. */
export async function main(databaseUrl: string | undefined, print: (line: string) => void): Promise<number> {
  if (!databaseUrl) {
    print('DATABASE_URL is not set. Set it to the address of the PostgreSQL database to check.');
    return 1;
  }
  const orm = await createOrm(databaseUrl, { connectionsMax: 1 });
  try {
    const violations = await checkInvariants(orm.em.fork());
    for (const violation of violations) print(JSON.stringify(violation));
    print(
      violations.length === 0
        ? `The ledger keeps all ${INVARIANTS.length} invariants.`
        : `The ledger has ${violations.length} violations; see the lines above and docs/operations.md.`,
    );
    return violations.length === 0 ? 0 : 1;
  } finally {
    await orm.close(true);
  }
}

await runProgram('check-ledger.js', (_parameters, print) => main(readEnvironment()['DATABASE_URL'], print));
