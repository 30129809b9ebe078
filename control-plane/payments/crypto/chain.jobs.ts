/** The scheduled job of blockchains, and its metrics. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge } from 'prom-client';
import type { HealthStatus } from '../../graphql/enums.ts';
import { registry } from '../../process/metrics.ts';
import type { ChainRow } from './chain.entity.ts';
import { listChains } from './chain.settings.ts';
import type { WatcherParts } from './pass.ts';
import { watchChains } from './watcher.ts';

/** Time for which a chain may be unreadable before its health is DEGRADED, in ms. */
const TROUBLE_MS = 10 * 60_000;

const readAt = new Gauge({
  name: 'gateway_chain_read_timestamp_seconds',
  help: 'Unix time at which a blockchain was last read up to its newest block, by chain.',
  labelNames: ['chain'],
  registers: [registry],
});
const frozen = new Gauge({
  name: 'gateway_chain_frozen',
  help: 'Whether the credits of a blockchain are stopped, by chain.',
  labelNames: ['chain'],
  registers: [registry],
});

/** Job: reads the chains that are due, and measures all. */
export async function runChains(parts: WatcherParts): Promise<void> {
  await watchChains(parts);
  readAt.reset();
  frozen.reset();
  for (const row of await listChains(parts.em())) {
    if (!row.enabled) continue;
    const chain = String(row.chainId);
    readAt.set({ chain }, (row.readAt?.getTime() ?? 0) / 1000);
    frozen.set({ chain }, row.frozenAt ? 1 : 0);
  }
}

/** Health of all chains together. */
export async function chainsHealth(em: EntityManager): Promise<keyof typeof HealthStatus> {
  const watched = (await listChains(em)).filter(({ enabled }) => enabled);
  if (watched.length === 0) return 'UNKNOWN';
  return watched.some((row) => isDegraded(row, new Date())) ? 'DEGRADED' : 'OK';
}

/** Whether a chain is frozen, or could not be read for some minutes. */
export function isDegraded({ frozenAt, troubleSince }: ChainRow, now: Date): boolean {
  const hasTrouble = troubleSince && now.getTime() - troubleSince.getTime() > TROUBLE_MS;
  return Boolean(frozenAt) || Boolean(hasTrouble);
}
