import { afterAll, beforeAll, expect, it } from 'vitest';
import { NO_NODES, pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { listJobs, runJob, schedule } from './jobs.ts';
import type { Job, JobView } from './jobs.ts';
import { JOB_NAMES, createJobs } from '../job-list.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { query, sql } from '../database/sql.ts';
import { UptimeClock } from '../database/uptime-clock.ts';

const WITHIN = { timeout: 20_000, interval: 20 };
const HOUR_MS = 3_600_000;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const em = () => test.orm.em.fork();
const viewOf = async (name: string): Promise<JobView | undefined> =>
  (await listJobs(em(), JOB_NAMES)).find((job) => job.name === name);
const job = (work: () => Promise<unknown>, more: Partial<Job> = {}): Job => ({
  name: 'pools',
  everyMs: HOUR_MS,
  work,
  ...more,
});

it('listJobs returns every job, including jobs that never ran', async () => {
  const jobs = createJobs({
    em,
    uptimeClock: new UptimeClock(),
    contentKeys: contentKeysOf(test),
    nodeFeed: NO_NODES,
    usageRetentionDays: null,
    usagePartition: 'month',
    usageArchive: null,
    signal: new AbortController().signal,
    settings: test.settings,
  });
  expect((await listJobs(em(), JOB_NAMES)).map(({ name }) => name)).toEqual(jobs.map(({ name }) => name));
  for (const { work } of jobs) await work();
  const none = {
    lastRunAt: null,
    lastDurationMs: null,
    lastError: null,
    lastFailedAt: null,
    nextRunAt: null,
  };
  expect(await viewOf('budgets')).toEqual({ name: 'budgets', ...none });
});

it('a failed run is shown with its reason; after a successful run only its time remains', async () => {
  const failing = job(() => Promise.reject(new Error('There is no room.')));
  await expect(runJob(failing, { em })).rejects.toThrow('There is no room.');
  const failed = await viewOf('pools');
  expect(failed).toMatchObject({ lastError: 'There is no room.', lastFailedAt: expect.any(Date) });
  await runJob(
    job(async () => undefined),
    { em },
  );
  expect(await viewOf('pools')).toMatchObject({ lastError: null, lastFailedAt: failed?.lastFailedAt });
});

it('listJobs shows the run that started later of two processes, even if that run ends first', async () => {
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begun = runJob(
    job(() => slow.then(() => Promise.reject(new Error('Slow.')))),
    { em },
  );
  await query(em(), sql`select pg_sleep(0.05)`);
  await runJob(
    job(async () => undefined),
    { em },
  );
  const later = await viewOf('pools');
  finish();
  await expect(begun).rejects.toThrow('Slow.');
  expect(await viewOf('pools')).toMatchObject({
    lastRunAt: later?.lastRunAt,
    nextRunAt: later?.nextRunAt,
    lastError: null,
  });
});

it('the next run is due after the interval, or after the idle time if that is longer', async () => {
  const untilNext = async (name: string): Promise<number> => {
    const view = await viewOf(name);
    return (view?.nextRunAt?.getTime() ?? 0) - (view?.lastRunAt?.getTime() ?? 0);
  };
  await runJob(
    job(async () => undefined, { name: 'claims' }),
    { em },
  );
  expect(await untilNext('claims')).toBeGreaterThan(HOUR_MS - 10_000);
  expect(await untilNext('claims')).toBeLessThan(HOUR_MS + 10_000);
  const slow = job(() => query(em(), sql`select pg_sleep(0.1)`), { everyMs: 10, idleFactor: 1000 });
  await runJob(slow, { em });
  expect(await untilNext('pools')).toBeGreaterThan(100_000);
});

it('a job continues while the database is unreachable, and reports its own failure', async () => {
  let isAway = true;
  const troubles: unknown[] = [];
  const work = job(() => (isAway ? Promise.reject(new Error('Work failed.')) : Promise.resolve()), {
    name: 'permits',
    everyMs: 5,
  });
  const running = schedule(work, {
    em: () => {
      if (isAway) throw new Error('Away.');
      return em();
    },
    onTrouble: (error) => void troubles.push(error),
  });
  try {
    await expect.poll(() => troubles.length, WITHIN).toBeGreaterThan(1);
    expect(troubles[0]).toMatchObject({ message: 'Work failed.' });
    isAway = false;
    const wanted = { lastRunAt: expect.any(Date), lastError: null };
    await expect.poll(() => viewOf('permits'), WITHIN).toMatchObject(wanted);
  } finally {
    await running.stop();
  }
});

it('systemHealth shows the jobs, and is DEGRADED while a job fails', async () => {
  const admin = await test.admin();
  const ask = async () =>
    pick<{ status: string; jobs: { name: string; lastError: string | null }[] }>(
      await admin.send('{ admin { systemHealth { status jobs { name lastRunAt lastError nextRunAt } } } }'),
      'admin',
      'systemHealth',
    );
  await runJob(
    job(() => Promise.reject(new Error('Broken.'))),
    { em },
  ).catch(() => undefined);
  const health = await ask();
  expect(health.status).toBe('DEGRADED');
  expect(health.jobs.find(({ name }) => name === 'pools')?.lastError).toBe('Broken.');
  await runJob(
    job(async () => undefined),
    { em },
  );
  expect((await ask()).status).not.toBe('DEGRADED');
});
