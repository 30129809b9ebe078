/** Reads from the ledger what became of leases, and what the proof of an outage needs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from './clients.ts';
import { coverageOf } from './coverage.ts';
import type { Coverage } from './coverage.ts';
import type { Fault } from './faults.ts';
import { rowsOf } from './stage.ts';
import type { Stage } from './stage.ts';

export interface PastOutage {
  seen: readonly Attempt[];
  faults: readonly Fault[];
  /** What each request costs, in micro-USD. */
  price: bigint;
  /** How long the control plane was away, in ms. */
  durationMs: number;
}

/** Judges an outage by the books. Throws when there was none. */
export async function coverageOfOutage(stage: Stage, past: PastOutage): Promise<Coverage> {
  const { seen, faults, price, durationMs } = past;
  const from = faults.find(({ target }) => target === 'control plane')?.from;
  if (from === undefined) throw new Error('the control plane was never away');
  const leases = await rowsOf<{
    id: string;
    node: string;
    walletId: string;
    granted: string;
    grantedAt: Date;
    recalledAt: Date | null;
    endedAt: Date | null;
  }>(
    stage,
    `select l.id, n.name as node, l.wallet_id as "walletId",
      (l.granted_cash + l.granted_gift)::text as granted,
      l.granted_at as "grantedAt", l.recalled_at as "recalledAt", l.ended_at as "endedAt"
    from wallet_lease l join data_plane_node n on n.id = l.node_id`,
  );
  const charges = await rowsOf<{ requestId: string; leaseId: string; at: Date }>(
    stage,
    `select request_id as "requestId", lease_id as "leaseId", at
    from usage_charge join usage_entry using (request_id)`,
  );
  const keys = await rowsOf<{ id: string; walletId: string }>(
    stage,
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

/** What nodes still hold when everything has healed and all of them run. */
export interface LeasesOfRunning {
  /** Called back and not back in time: each with its node, and how long ago that was. */
  keptLeases: string[];
  /** Not called back: their nodes may keep them. */
  idleLeases: number;
}

/** Leases are back long before nodes would give them back by themselves, which is after a minute. */
const BACK_WITHIN_MS = 20_000;

/** Waits until all that was called back is back, and says what is open then. */
export async function leasesWhileRunning(stage: Stage): Promise<LeasesOfRunning> {
  const until = Date.now() + BACK_WITHIN_MS;
  for (;;) {
    const open = await rowsOf<{ id: string; name: string; recalled: string | null }>(
      stage,
      `select l.id, n.name, extract(epoch from clock_timestamp() - l.recalled_at)::text as recalled
        from wallet_lease l join data_plane_node n on n.id = l.node_id
        where l.state in ('ACTIVE', 'ORPHANED')`,
    );
    const kept = open.filter(({ recalled }) => recalled !== null);
    if (kept.length === 0 || Date.now() > until) {
      const keptLeases = kept.map(
        ({ id, name, recalled }) => `${id} of ${name}, called back ${recalled} s ago`,
      );
      return { keptLeases, idleLeases: open.length - kept.length };
    }
    await sleep(200);
  }
}
