/** Starts the work that runs beside requests: the configuration feed and the scheduled jobs. */
import { Counter } from 'prom-client';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

import { runJob, schedule } from './process/jobs.ts';
import { registry } from './process/metrics.ts';
import type { Settings } from './process/settings.ts';
import { UptimeClock } from './database/uptime-clock.ts';
import { ConfigFeed } from './nodes/config-feed.ts';
import type { FeedParts } from './nodes/config-feed.ts';
import type { ContentKeys } from './intelligence/content-keys.ts';
import { createJobs } from './job-list.ts';
import { stateKeyReader } from './secret-key/state-key.ts';

const failures = new Counter({
  name: 'gateway_background_failures_total',
  help: 'Failures of background work that will be tried again.',
  labelNames: ['task'],
  registers: [registry],
});

interface BackgroundParts extends Omit<FeedParts, 'onTrouble' | 'openStateKey'> {
  /** The connections of the configuration feed. */
  feedOrm: MikroORM;
  log?: (line: Record<string, unknown>) => void;
  contentKeys: ContentKeys;
  settings: Pick<
    Settings,
    | 'secretKey'
    | 'consoleUrl'
    | 'dataUrl'
    | 'usageRetentionDays'
    | 'usagePartition'
    | 'usageArchive'
    | 'allowPrivateUpstreams'
  >;
}

/** Starts feed and jobs; `stop` ends them and waits for the runs in progress. */
export async function startBackground(
  parts: BackgroundParts,
): Promise<{ feed: ConfigFeed; stop(): Promise<void> }> {
  const trouble =
    (task: string) =>
    (error: unknown): void => {
      failures.inc({ task });
      const message = 'Background work failed. It is tried again.';
      parts.log?.({ level: 'warn', task, message, reason: messageOf(error) });
    };
  const openStateKey = stateKeyReader(parts.settings.secretKey);
  const onTrouble = trouble('config feed');
  const feed = await ConfigFeed.start({ ...parts, orm: parts.feedOrm, openStateKey, onTrouble });

  const em = (): EntityManager => parts.orm.em.fork();
  const { log, settings } = parts;
  const { usageRetentionDays, usagePartition, usageArchive } = settings;
  const stopping = new AbortController();
  const jobs = createJobs({
    em,
    uptimeClock: new UptimeClock(),
    log,
    usageRetentionDays,
    usagePartition,
    usageArchive,
    signal: stopping.signal,
    settings,
    contentKeys: parts.contentKeys,
    nodeFeed: feed,
  });
  for (const job of jobs.filter(({ atStart }) => atStart)) await runJob(job, { em }).catch(trouble(job.name));
  const tasks = jobs.map((job, number) => schedule(job, { em, onTrouble: trouble(job.name) }, number));
  return {
    feed,
    stop: async () => {
      stopping.abort();
      await Promise.all([feed.stop(), ...tasks.map((task) => task.stop())]);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
