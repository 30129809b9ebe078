/**
 * The program `main.js <port>`, started by the supervisor with the settings of the processor in its
 * environment. Exits when the supervisor is gone.
 */
import { startCardProcessor } from './processor.ts';

/** Starts the processor. Throws if the key or the secret of the webhook is missing. */
async function main(): Promise<void> {
  const environment = process.env;
  const { PROCESSOR_KEY: key, PROCESSOR_WEBHOOK_SECRET: secret } = environment;
  if (!key || !secret) throw new Error('Set PROCESSOR_KEY and PROCESSOR_WEBHOOK_SECRET.');
  const { url } = await startCardProcessor({
    ...{ key, secret, host: environment.PROCESSOR_HOST || '127.0.0.1', port: Number(process.argv[2]) },
    pageOrigin: environment.PROCESSOR_PAGE_ORIGIN,
    webhookUrl: environment.PROCESSOR_WEBHOOK_URL,
    stateFile: environment.PROCESSOR_STATE,
  });
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  process.send?.({ type: 'ready', port: Number(new URL(url).port) });
}

if (import.meta.main) await main();
