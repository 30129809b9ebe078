/** The control plane's process: settings, migrations, seeds, then one port; stops cleanly within a second. */
import 'reflect-metadata';
import { composeLetters } from './accounts/letters.ts';
import { createApp } from './app.ts';
import { bootstrap } from './local/bootstrap.ts';
import { startPost } from './mail/post.ts';
import { startBackground } from './nodes/background.ts';
import { findNodeByToken } from './nodes/node.service.ts';
import { createOrm, migrate } from './orm.ts';
import { announceSettings } from './settings-record.ts';
import { seed } from './seeds.ts';
import { readSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { credentialOpener } from './upstreams/upstream.service.ts';

/** After this the process ends even if something still hangs. */
const STOP_WITHIN_MS = 900;

function log(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
}

async function start(settings: Settings): Promise<() => Promise<void>> {
  await migrate(settings.databaseUrl);
  const orm = await createOrm(settings.databaseUrl);
  await seed(orm.em.fork(), settings);
  const bootstrapped = settings.localStart ? await bootstrap(orm, settings, process.env) : undefined;
  const openCredential = credentialOpener(settings.secretKey);
  const { databaseUrl, usageRetentionDays } = settings;
  const background = await startBackground({ orm, databaseUrl, openCredential, usageRetentionDays, log });
  const app = await createApp({ orm, settings, log, findNode: findNodeByToken });
  const port = await app.listen();
  await announceSettings(orm.em.fork(), settings);
  const post = startPost({ orm, settings, compose: composeLetters(settings), log });
  process.send?.({ type: 'ready', port, url: settings.consoleUrl, bootstrap: bootstrapped });
  log({ level: 'info', message: `Control plane ready on ${settings.consoleUrl}.`, port });
  return async () => {
    await Promise.all([post.stop(), background.stop()]);
    await app.close();
    await orm.close(true);
  };
}

async function main(): Promise<void> {
  const stop = await start(readSettings(process.env));
  let stopping = false;
  const end = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  // Started by a supervisor that vanished: nobody would stop us any more.
  process.on('disconnect', end);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
