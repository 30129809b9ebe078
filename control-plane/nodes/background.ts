/** What runs beside requests: the configuration feed, and the jobs. */
import { Counter } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { setAckWaiter } from '../config-log.ts';
import { runJob, schedule } from '../jobs.ts';
import { registry } from '../metrics.ts';
import { Watch } from '../watch.ts';
import { ConfigFeed } from './config-feed.ts';
import type { FeedParts } from './config-feed.ts';
import { jobsIn } from './job-list.ts';
import { setRunningFeed } from './running-feed.ts';

const failures = new Counter({
  name: 'gateway_background_failures_total',
  help: 'Failures of background work that will be tried again.',
  labelNames: ['task'],
  registers: [registry],
});

export interface BackgroundParts extends Omit<FeedParts, 'onTrouble'> {
  log?: (line: Record<string, unknown>) => void;
  /** How long months of the usage log are kept after their end, in days; null for ever. */
  usageRetentionDays?: number | null;
}

/** Starts all of it; `stop` ends it and waits for what is under way. */
export async function startBackground(
  parts: BackgroundParts,
): Promise<{ feed: ConfigFeed; stop(): Promise<void> }> {
  const trouble =
    (task: string) =>
    (error: unknown): void => {
      failures.inc({ task });
      parts.log?.({ level: 'warn', task, message: 'Background work failed.', reason: messageOf(error) });
    };
  const feed = await ConfigFeed.start({ ...parts, onTrouble: trouble('config feed') });
  setAckWaiter((revision, timeoutMs) => feed.waitForAcks(revision, timeoutMs));
  setRunningFeed(feed);
  const em = (): EntityManager => parts.orm.em.fork();
  const { log, usageRetentionDays = null } = parts;
  const jobs = jobsIn({ em, watch: new Watch(), log, usageRetentionDays });
  for (const job of jobs.filter(({ atStart }) => atStart)) await runJob(job, { em }).catch(trouble(job.name));
  const tasks = jobs.map((job) => schedule(job, { em, onTrouble: trouble(job.name) }));
  return {
    feed,
    stop: async () => {
      setAckWaiter(undefined);
      setRunningFeed(undefined);
      await Promise.all([feed.stop(), ...tasks.map((task) => task.stop())]);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
