/**
 * The node that `uploads.ts` measures, in a separate process: a real server with a key per upload and without
 * a database.
 */
import { makeKey, makeModel, makeRoute, startNode } from '../request-path.ts';

const MEGABYTE = 1024 * 1024;
const SAMPLE_EVERY_MS = 20;
const LIMITS = { maxChoices: 1, maxInputs: 8, maxBodyBytes: 64 * MEGABYTE, serviceTiers: [] };
const TIMEOUT_MS = 600_000;

const [origin = '', keys = '1'] = process.argv.slice(2);
const node = await startNode();
node.store.modelList = [makeModel({ families: ['audio'], limits: LIMITS })];
const timeouts = {
  connectMs: TIMEOUT_MS,
  headersMs: TIMEOUT_MS,
  firstContentMs: TIMEOUT_MS,
  idleMs: TIMEOUT_MS,
  totalMs: TIMEOUT_MS,
};
node.store.routes = [makeRoute(origin, { provider: { timeouts }, route: { families: ['audio'] } })];
const secrets = Array.from({ length: Number(keys) }, (_, index) => {
  const { secret, record } = makeKey({ id: `key-${index}`, walletId: `wallet-${index}` });
  node.store.keys.push(record);
  return secret;
});

let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, SAMPLE_EVERY_MS);
process.on('message', () => {
  process.send?.({ peak, charges: node.ledger.charges.length });
  peak = 0;
});
process.once('disconnect', () => process.exit(0));
process.send?.({ port: node.port, secrets });
