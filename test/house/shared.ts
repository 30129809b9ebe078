/** One house for all test files of a worker: starting the planes takes longer than most tests. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { createTestDatabase } from '../database.ts';
import { ADMIN, startHouse } from '../house.ts';
import type { House } from '../house.ts';

let shared: Promise<House> | undefined;
let signedInAt = 0;

/** Age of the administrator's sign-in after which it is renewed, in ms: sensitive fields allow 15 minutes. */
const SIGN_IN_MS_MAX = 5 * 60_000;

/**
 * The shared house of this worker, with one node, which is also at PUBLIC_URL and serves the Playground.
 * The upstreams of earlier test files are deleted. A test file uses customers of its own, changes no global
 * setting without restoring it, and neither kills a plane nor stops the house: the processes end with their
 * worker, and the database with the run.
 */
export async function openSharedHouse(): Promise<House> {
  shared ??= start();
  const house = await shared;
  if (performance.now() - signedInAt > SIGN_IN_MS_MAX) {
    await house.admin.mutate('signIn', ADMIN, 'viewer { id }');
    signedInAt = performance.now();
  }
  await deleteUpstreams(house);
  return house;
}

async function start(): Promise<House> {
  const { url } = await createTestDatabase();
  const dataPort = await findFreePort();
  return startHouse({
    databaseUrl: url,
    dataDir: mkdtempSync(join(inject('runFolder'), 'house-')),
    dataPort,
    controlEnv: { PUBLIC_URL: `http://localhost:${dataPort}` },
  });
}

async function deleteUpstreams(house: House): Promise<void> {
  const { admin } = await house.admin.query<{ admin: { providers: { id: string }[] } }>(
    'query { admin { providers { id } } }',
  );
  const remove = 'mutation ($input: AdminReasonInput!) { adminProviderDelete(input: $input) { ok } }';
  for (const { id } of admin.providers) await house.admin.query(remove, { input: { id, reason: 'test' } });
  await house.applied();
}
