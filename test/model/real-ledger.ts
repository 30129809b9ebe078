/**
 * The messages of the model check, handled by the real control plane: real leases, settlements and closings
 * on a real PostgreSQL. Answers are in the words of the model, so that both can be compared.
 */
import { UserFailure } from '../../control-plane/graphql/errors.ts';
import type { UserErrorCode } from '../../control-plane/graphql/errors.ts';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { query, queryOne, sql } from '../../control-plane/database/sql.ts';
import { settle } from '../../control-plane/usage/settlement.service.ts';
import { closeLease, reclaimLease } from '../../control-plane/wallet/lease.end.ts';
import { requestLease } from '../../control-plane/wallet/lease.service.ts';
import { addJournal, setCurrentJournal, reported } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';

/** Position of a charge in its journal. */
export interface ChargePlace {
  journal: string;
  seq: number;
}

/** The answer to a message in the model's words; undefined if there is none. */
type RealAnswer = string | undefined;

/** The wallet and its leases in the model's units: whole prices. */
export interface RealState {
  balance: number;
  leases: { id: string; state: string; amount: number; charged: number; left: number }[];
  charged: string[];
  writtenOff: number;
}

/** The model's words for the errors of a lease request. */
const WORDS: Partial<Record<UserErrorCode, string>> = {
  CONFLICT: 'conflict',
  INSUFFICIENT_BALANCE: 'refused',
  INVALID: 'ended',
  NOT_FOUND: 'ended',
};
const ENDED = { ACTIVE: 'open', ORPHANED: 'open', CLOSED: 'closed', RECLAIMED: 'reclaimed' } as const;

/** One wallet of the real ledger. Journals are registered on first use. */
export class RealLedger {
  readonly #money: Money;
  readonly #walletId: string;
  readonly #nodes: readonly string[];
  readonly #run: string;
  /** Real ids by the model's names, for leases in the order of their grants. */
  readonly #leases = new Map<string, string>();
  readonly #journals = new Map<string, string>();

  private constructor(money: Money, walletId: string, nodes: readonly string[]) {
    this.#money = money;
    this.#walletId = walletId;
    this.#nodes = nodes;
    this.#run = walletId;
  }

  /** Opens a wallet with this many prices as cash and as a gift, and this many nodes. */
  static async open(money: Money, holds: { cash: number; gift: number; nodes: number }): Promise<RealLedger> {
    const { walletId } = await money.wallet({ cash: BigInt(holds.cash), gift: BigInt(holds.gift) });
    const nodes: string[] = [];
    for (let at = 0; at < holds.nodes; at += 1) nodes.push((await money.node()).nodeId);
    return new RealLedger(money, walletId, nodes);
  }

  /** Handles `ask`. `registered` is the journal by which the node is known at that moment. */
  async ask(
    [node, journal, no, need, want, waiting]: readonly string[],
    registered: string,
  ): Promise<RealAnswer> {
    const nodeId = this.#nodeId(node);
    await setCurrentJournal(this.#money.em(), nodeId, await this.#journalId(nodeId, registered));
    try {
      const lease = await requestLease(this.#money.em(), {
        nodeId,
        journalId: await this.#journalId(nodeId, journal ?? ''),
        requestNo: Number(no),
        walletId: this.#walletId,
        keyId: null,
        need: BigInt(need ?? 0),
        want: BigInt(want ?? 0),
        waiting: BigInt(waiting ?? 0),
      });
      return `granted ${node} ${journal} ${no}=${this.#nameOf(lease.id)} ${lease.granted}`;
    } catch (error) {
      return `${WORDS[codeOf(error)]} ${node} ${journal} ${no}`;
    }
  }

  /** Handles `settle`: the charge of a request in a lease. Returns the number of new charges, 0 or 1. */
  async settle([node, request, lease]: readonly string[], place: ChargePlace): Promise<number> {
    const nodeId = this.#nodeId(node);
    const record = reported({
      requestId: `${this.#run} ${request}`,
      journalId: await this.#journalId(nodeId, place.journal),
      seq: place.seq,
      leaseId: this.#leases.get(lease ?? '') ?? '',
      walletId: this.#walletId,
      cost: 1n,
    });
    const actor = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: nodeId };
    const answer = await settle(this.#money.em(), { node: actor, records: [record] });
    if (answer.rejected.length > 0) throw new Error(`the charge of ${request} was rejected`);
    return answer.accepted;
  }

  /** Handles `close`: ends a lease with this number of charges. */
  async close([node, journal, lease, count]: readonly string[]): Promise<RealAnswer> {
    const nodeId = this.#nodeId(node);
    try {
      await closeLease(this.#money.em(), {
        nodeId,
        journalId: await this.#journalId(nodeId, journal ?? ''),
        leaseId: this.#leases.get(lease ?? '') ?? '',
        count: Number(count),
        sum: BigInt(count ?? 0),
        actor: SYSTEM_ACTOR,
      });
      return `closed ${node} ${journal} ${lease}`;
    } catch (error) {
      return codeOf(error) === 'CONFLICT' ? `not-closed ${node} ${journal} ${lease}` : undefined;
    }
  }

  /** Reclaims the lease, as if its node had been silent until the deadline. */
  async reclaim(lease: string): Promise<void> {
    const id = this.#leases.get(lease) ?? '';
    await query(this.#money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${id}`);
    await reclaimLease(this.#money.em(), id);
  }

  async state(): Promise<RealState> {
    const em = this.#money.em();
    const [cash, gift] = [`wallet:${this.#walletId}:CASH`, `wallet:${this.#walletId}:GIFT`];
    const wallet = await queryOne<{ balance: string }>(
      em,
      sql`select sum(balance)::text as balance from ledger_account where id in (${cash}, ${gift})`,
    );
    const leases = await query<{
      id: string;
      state: keyof typeof ENDED;
      granted: string;
      charged: number;
      left: string;
    }>(
      em,
      sql`
      select l.id, l.state, (l.granted_cash + l.granted_gift)::text as granted, l.charge_count as charged,
        (select sum(a.balance) from ledger_account a
          where a.id in ('lease:' || l.id || ':CASH', 'lease:' || l.id || ':GIFT'))::text as left
      from wallet_lease l where l.wallet_id = ${this.#walletId}`,
    );
    const charges = await query<{ request: string; settlement: string }>(
      em,
      sql`
      select request_id as request, settlement from usage_charge where request_id like ${`${this.#run} %`}
      order by request_id`,
    );
    return {
      balance: Number(wallet?.balance),
      leases: leases
        .map(({ id, state, granted, charged, left }) => ({
          id: this.#nameOf(id),
          state: ENDED[state],
          amount: Number(granted),
          charged,
          left: Number(left),
        }))
        .sort((one, other) => one.id.localeCompare(other.id)),
      charged: charges.map(({ request }) => request.slice(this.#run.length + 1)),
      writtenOff: charges.filter(({ settlement }) => settlement === 'WRITEOFF').length,
    };
  }

  #nodeId(number: string | undefined): string {
    const id = this.#nodes[Number(number)];
    if (id === undefined) throw new Error(`there is no node ${number}`);
    return id;
  }

  async #journalId(nodeId: string, name: string): Promise<string> {
    const known = this.#journals.get(name);
    if (known !== undefined) return known;
    const id = `jnl_${this.#run}_${name.replace('/', '_')}`;
    await addJournal(this.#money.em(), nodeId, id);
    this.#journals.set(name, id);
    return id;
  }

  #nameOf(id: string): string {
    for (const [name, known] of this.#leases) if (known === id) return name;
    const name = `l${this.#leases.size}`;
    this.#leases.set(name, id);
    return name;
  }
}

function codeOf(error: unknown): UserErrorCode {
  if (error instanceof UserFailure) return error.code;
  throw error;
}
