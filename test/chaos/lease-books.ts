/** Reads from the ledger what the proof of an outage needs: leases, charges, and whose keys were used. */
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
