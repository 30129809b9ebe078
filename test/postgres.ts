/** Starts one PostgreSQL for a whole test run, in a temporary folder, and removes both afterwards. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../control-plane/local/postgres.ts';
import type {} from './provided.ts';

/** The global setup of Vitest. Returns the function that stops and removes everything. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-test-'));
  // A superuser's server runs as another user, who must be able to pass through this folder.
  chmodSync(dataDir, 0o711);
  // Test data need not survive a power cut.
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
