/** The program of the control plane: migrates, seeds, serves one port, and stops within a second. */
import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { applyAtStart } from './configuration/at-start.ts';
import { composeLinkMails } from './accounts/link-mails.ts';
import { createApp } from './app.ts';
import { openClickHouse } from './clickhouse/open.ts';
import { bootstrap } from './local/bootstrap.ts';
import { openContentKeys } from './intelligence/open-keys.ts';
import { startMailer } from './mail/mailer.ts';
import { startBackground } from './background.ts';
import { findNodeByToken } from './nodes/node.service.ts';
import { createOrm, migrate } from './database/orm.ts';
import { announceSettings } from './settings-record.ts';
import { requireSameKey } from './secret-key/canary.ts';
import { seed } from './seeds.ts';
import { readEnvironment } from './process/environment.ts';
import { createLog } from './process/log.ts';
import { showPool } from './process/pool.metrics.ts';
import { readSettings } from './process/settings.ts';
import type { Settings } from './process/settings.ts';
import { startWebhooks } from './webhooks/worker.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { credentialReader } from './upstreams/upstream.service.ts';

/**
 * Without this flag, V8 allocates objects of usage reports in the old generation, because earlier ones
 * survived some scavenges. Such an object keeps everything to which it refers until the next mark-compact,
 * even when it is dead.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/** After this time the process exits even if something still hangs. */
const STOP_WITHIN_MS = 900;

/** Connections of the configuration feed, which no work of people can occupy. */
const FEED_CONNECTIONS_MAX = 4;

/** Starts everything; the returned function stops it. */
async function start(settings: Settings, environment: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const log = createLog({ instance: settings.instanceName, lowest: settings.logLevel });
  await migrate(settings.databaseUrl, undefined, (message) => log({ level: 'warn', message }));
  const orm = await createOrm(settings.databaseUrl, { onPool: showPool });
  const feedOrm = await createOrm(settings.databaseUrl, {
    connectionsMax: FEED_CONNECTIONS_MAX,
    onPool: showPool,
  });
  await requireSameKey(orm.em.fork(), settings.secretKey);
  await seed(orm.em.fork(), settings);
  const configured = await applyAtStart(orm.em.fork(), settings, environment);
  if (configured > 0) log({ level: 'info', message: `CONFIG_FILE made ${configured} changes.` });
  const bootstrapped = settings.localStart ? await bootstrap(orm, settings, environment) : undefined;
  const { contentKeys, close: closeKeys } = await openContentKeys({ orm, settings });
  const openCredential = credentialReader(settings.secretKey);
  const { databaseUrl } = settings;
  const background = await startBackground({
    ...{ orm, feedOrm, databaseUrl, contentKeys, openCredential, settings, log },
  });
  const nodeFeed = background.feed;
  const findNode = (token: string) => findNodeByToken(feedOrm.em.fork(), token);
  const tracing = await openTracing(environment, settings.instanceName);
  const clickHouse =
    settings.clickHouseUrl === null ? undefined : openClickHouse(settings.clickHouseUrl, { orm, log });
  const usage = clickHouse?.usage;
  const app = await createApp({ orm, contentKeys, settings, log, nodeFeed, findNode, tracing, usage });
  const port = await app.listen();
  await announceSettings(orm.em.fork(), settings);
  const mailer = startMailer({ orm, settings, compose: composeLinkMails(settings), log });
  const webhooks = startWebhooks({ em: () => orm.em.fork(), settings, log });
  process.send?.({ type: 'ready', port, url: settings.consoleUrl, bootstrap: bootstrapped });
  log({ level: 'info', message: `Control plane ready on ${settings.consoleUrl}.`, port });
  return async () => {
    await Promise.all([mailer.stop(), webhooks.stop(), background.stop()]);
    await app.close();
    await clickHouse?.stop();
    await tracing?.close();
    await Promise.all([orm.close(true), feedOrm.close(true), closeKeys()]);
  };
}

async function main(): Promise<void> {
  const environment = readEnvironment();
  let stopping = false;
  const end = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    started
      .then((stop) => stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  // A signal may come as soon as the port answers, which is before the start has ended.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  // The supervisor that started this process is gone, so nothing else would stop it.
  process.on('disconnect', end);
  const started = start(readSettings(environment), environment);
  await started;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
