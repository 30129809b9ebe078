/** Starts one PostgreSQL server for a whole test run, with its data in a temporary folder. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../control-plane/local/postgres.ts';
import type {} from './provided.ts';

/** Vitest calls this before all tests. Returns the function that stops the server and deletes the folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-test-'));
  // If root runs the tests, the server runs as another user, who needs permission to open this folder.
  chmodSync(dataDir, 0o711);
  // The first three settings switch durability off, which makes tests faster. Test files run in parallel.
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    max_connections: '300',
  };
  const postgres = await startPostgres({ dataDir, settings });
  const runFolder = path.join(dataDir, 'run');
  mkdirSync(runFolder);
  project.provide('postgresUrl', postgres.url);
  project.provide('runFolder', runFolder);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
