/**
 * Reads leases from the ledger after the faults of a chaos run: the judgement of an outage, and open leases.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from './clients.ts';
import { coverageOf } from './coverage.ts';
import type { Coverage } from './coverage.ts';
import type { Fault } from './faults.ts';
import { rowsOf } from './environment.ts';
import type { Environment } from './environment.ts';

export interface PastOutage {
  seen: readonly Attempt[];
  faults: readonly Fault[];
  /** Price of a request in micro-USD. */
  price: bigint;
  /** How long the control plane was down, in ms. */
  durationMs: number;
}

/** Judges an outage by the ledger. Throws if the control plane was never down. */
export async function coverageOfOutage(environment: Environment, past: PastOutage): Promise<Coverage> {
  const { seen, faults, price, durationMs } = past;
  const from = faults.find(({ target }) => target === 'control plane')?.from;
  if (from === undefined) throw new Error('The control plane was never killed.');
  const leases = await rowsOf<{
    id: string;
    node: string;
    walletId: string;
    granted: string;
    grantedAt: Date;
    recalledAt: Date | null;
    endedAt: Date | null;
  }>(
    environment,
    `select l.id, n.name as node, l.wallet_id as "walletId",
      (l.granted_cash + l.granted_gift)::text as granted,
      l.granted_at as "grantedAt", l.recalled_at as "recalledAt", l.ended_at as "endedAt"
    from wallet_lease l join data_plane_node n on n.id = l.node_id`,
  );
  const charges = await rowsOf<{ requestId: string; leaseId: string; at: Date }>(
    environment,
    `select request_id as "requestId", lease_id as "leaseId", at
    from usage_charge join usage_entry using (request_id)`,
  );
  const keys = await rowsOf<{ id: string; walletId: string }>(
    environment,
    'select id, wallet_id as "walletId" from api_key',
  );
  return coverageOf(seen, {
    price,
    from,
    until: from + durationMs,
    leases: leases.map((lease) => ({
      ...lease,
      granted: BigInt(lease.granted),
      grantedAt: lease.grantedAt.getTime(),
      recalledAt: lease.recalledAt?.getTime() ?? null,
      endedAt: lease.endedAt?.getTime() ?? null,
    })),
    charges: charges.map((charge) => ({ ...charge, at: charge.at.getTime() })),
    wallets: new Map(keys.map(({ id, walletId }) => [id, walletId])),
  });
}

/** Open leases of running nodes after all faults were healed. */
export interface OpenLeases {
  /** Recalled leases that were not returned in time: each with its node and the age of the recall. */
  keptLeases: string[];
  /** Number of leases that were not recalled, which nodes may keep. */
  idleLeases: number;
}

/**
 * Time for the return of recalled leases, in ms; nodes return unused leases by themselves only after a
 * minute.
 */
const RETURN_WITHIN_MS = 20_000;

/**
 * Waits until all recalled leases are returned or the time is up, and returns the leases that are still open.
 */
export async function openLeasesAfterRecalls(environment: Environment): Promise<OpenLeases> {
  const until = Date.now() + RETURN_WITHIN_MS;
  for (;;) {
    const open = await rowsOf<{ id: string; name: string; recalled: string | null }>(
      environment,
      `select l.id, n.name, extract(epoch from clock_timestamp() - l.recalled_at)::text as recalled
        from wallet_lease l join data_plane_node n on n.id = l.node_id
        where l.state in ('ACTIVE', 'ORPHANED')`,
    );
    const kept = open.filter(({ recalled }) => recalled !== null);
    if (kept.length === 0 || Date.now() > until) {
      const keptLeases = kept.map(({ id, name, recalled }) => `${id} of ${name}, recalled ${recalled} s ago`);
      return { keptLeases, idleLeases: open.length - kept.length };
    }
    await sleep(200);
  }
}
