/** The control plane of the model check: what becomes of the messages of nodes, by production's rules. */
import { planSettlement } from '../../control-plane/usage/settlement.rules.ts';
import {
  decideGrant,
  judgeClosing,
  judgeShortage,
  wasRefused,
} from '../../control-plane/wallet/lease.rules.ts';
import type { ModelLease, World } from './state.ts';
import type { Mover } from './world.ts';

/** A question for a lease arrives. */
export function grant(mover: Mover, number: number, words: string[]): void {
  const { world, rules, bounds } = mover;
  const [, journal = '', no = '', need = '1', want = '1', waiting = '0'] = words;
  const known = world.granted[`${journal} ${no}`];
  if (known !== undefined) {
    const isOpen = world.leases.some(({ id, state }) => id === known && state === 'open');
    return isOpen ? sendGrant(mover, number, { no, id: known }) : refuse(mover, 'ended', words);
  }
  if (mover.remembersRefusals && mover.at(number).registered !== journal)
    return refuse(mover, 'ended', words);
  if (mover.remembersRefusals && wasRefused(Number(no), world.refused[journal]))
    return refuse(mover, 'conflict', words);
  const free = BigInt(world.balance);
  const asked = { balance: free, need: BigInt(need), want: BigInt(want), waiting: BigInt(waiting) };
  const granted = rules.guardsBalance ? decideGrant(asked) : BigInt(bounds.chunk);
  if (granted === undefined) {
    const open = world.leases.filter((lease) => lease.state === 'open');
    const parked = BigInt(open.reduce((sum, lease) => sum + lease.amount - lease.charged, 0));
    const answer = judgeShortage({ free, parked, need: asked.need });
    if (answer === 'NOT_ENOUGH') return refuse(mover, 'refused', words);
    for (const lease of open) {
      lease.recalled = true;
      mover.send(`recall ${lease.id}`);
    }
    return refuse(mover, 'conflict', words);
  }
  if (world.leases.length >= bounds.leases) return;
  const id = `l${world.leases.length}`;
  const amount = Number(granted);
  world.balance -= amount;
  const { late } = mover.at(number);
  const told = { recalled: false, heard: false };
  world.leases.push({ id, journal, node: number, amount, charged: 0, state: 'open', late, ...told });
  world.granted[`${journal} ${no}`] = id;
  sendGrant(mover, number, { no, id });
}

/** Refuses a question: for good, so that no copy of it gets a lease. */
function refuse(mover: Mover, word: string, [number, journal = '', no]: string[]): void {
  const { refused } = mover.world;
  refused[journal] = Math.max(refused[journal] ?? 0, Number(no));
  mover.send(`${word} ${number} ${journal} ${no}`);
}

function sendGrant(mover: Mover, number: number, { no, id }: { no: string; id: string }): void {
  const lease = mover.world.leases.find((each) => each.id === id);
  mover.send(`granted ${number} ${lease?.journal} ${no}=${id} ${lease?.amount}`);
}

/** A charge arrives. */
export function settle(mover: Mover, words: string[]): void {
  const { world, rules } = mover;
  const [number = '', request = '', leaseId = ''] = words;
  const lease = world.leases.find(({ id }) => id === leaseId);
  if (!lease) return;
  const times = world.charged.filter((charged) => charged === Number(request)).length;
  if (times < (rules.dedupes ? 1 : 2)) {
    world.charged.push(Number(request));
    world.charged.sort((one, other) => one - other);
    world.revenue += 1;
    if (isCovered(lease)) lease.charged += 1;
    else if (lease.state === 'open') world.bad = 'a lease was overspent';
    else if (world.balance >= 1) world.balance -= 1;
    else world.writtenOff += 1;
  }
  mover.send(`settled ${number} ${lease.journal} ${request}`);
}

/** Whether the lease pays one more charge, by the rule of the control plane. */
function isCovered(lease: ModelLease): boolean {
  const left = { cash: BigInt(lease.amount - lease.charged), gift: 0n, open: lease.state === 'open' };
  const charge = { requestId: '', journalId: '', seq: 1, leaseId: lease.id, walletId: '', amount: 1n };
  return planSettlement([charge], new Map([[lease.id, left]])).covered.length === 1;
}

/** The order to close a lease arrives. */
export function close(mover: Mover, words: string[]): void {
  const { world, rules } = mover;
  const [number = '', journal = '', leaseId = '', count = ''] = words;
  const lease = world.leases.find(({ id }) => id === leaseId);
  if (!lease) return;
  const verdict = judgeClosing(
    {
      journalId: rules.checksJournal ? lease.journal : journal,
      state: STATES[lease.state],
      chargeCount: rules.closesExactly ? lease.charged : Number(count),
      chargeSum: BigInt(rules.closesExactly ? lease.charged : count),
    },
    { journalId: journal, count: Number(count), sum: BigInt(count) },
  );
  if (verdict === 'UNKNOWN') return;
  if (verdict === 'TOO_EARLY') return mover.send(`not-closed ${number} ${journal} ${leaseId}`);
  if (verdict === 'CLOSE') {
    const early = world.messages.find((message) => isUncounted(world, message, leaseId));
    if (early) world.bad = `${leaseId} was closed before ${early} had come`;
    lease.state = 'closed';
    world.balance += lease.amount - lease.charged;
  }
  mover.send(`closed ${number} ${journal} ${leaseId}`);
}

/** Whether it tells of a charge in the lease that has not arrived. */
function isUncounted({ charged }: World, message: string, leaseId: string): boolean {
  const [kind, , request, lease] = message.split(' ');
  return kind === 'settle' && lease === leaseId && !charged.includes(Number(request));
}

const STATES = { open: 'ACTIVE', closed: 'CLOSED', reclaimed: 'RECLAIMED' } as const;
