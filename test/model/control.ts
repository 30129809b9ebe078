/** The control plane of the model check: handles the messages of nodes by production's rules. */
import { planSettlement } from '../../control-plane/usage/settlement.rules.ts';
import {
  decideGrant,
  judgeClosing,
  judgeShortage,
  wasAnswered,
} from '../../control-plane/wallet/lease.rules.ts';
import type { ModelLease, World } from './state.ts';
import type { WorldDriver } from './world.ts';

/** Handles a lease request. */
export function grant(driver: WorldDriver, number: number, words: string[]): void {
  const { world, rules, bounds } = driver;
  const [, journal = '', no = '', need = '1', want = '1', waiting = '0'] = words;
  const known = world.granted[`${journal} ${no}`];
  if (known !== undefined) {
    const isOpen = world.leases.some(({ id, state }) => id === known && state === 'open');
    return isOpen ? sendGrant(driver, number, { no, id: known }) : refuse(driver, 'ended', words);
  }
  if (driver.remembersRefusals && driver.nodeAt(number).registered !== journal)
    return refuse(driver, 'ended', words);
  if (driver.remembersRefusals && wasAnswered(Number(no), world.refused[journal]))
    return refuse(driver, 'conflict', words);
  const free = BigInt(world.balance);
  const asked = { balance: free, need: BigInt(need), want: BigInt(want), waiting: BigInt(waiting) };
  const granted = rules.guardsBalance ? decideGrant(asked) : BigInt(bounds.chunk);
  if (granted === undefined) {
    const open = world.leases.filter((lease) => lease.state === 'open');
    const leased = BigInt(open.reduce((sum, lease) => sum + lease.amount - lease.charged, 0));
    const answer = judgeShortage({ free, leased, need: asked.need });
    if (answer === 'NOT_ENOUGH') return refuse(driver, 'refused', words);
    for (const lease of open) {
      lease.recalled = true;
      driver.send(`recall ${lease.id}`);
    }
    return refuse(driver, 'conflict', words);
  }
  if (world.leases.length >= bounds.leases) return;
  const id = `l${world.leases.length}`;
  const amount = Number(granted);
  world.balance -= amount;
  const { late } = driver.nodeAt(number);
  const recall = { recalled: false, recallDelivered: false };
  world.leases.push({ id, journal, node: number, amount, charged: 0, state: 'open', late, ...recall });
  world.granted[`${journal} ${no}`] = id;
  sendGrant(driver, number, { no, id });
}

/** Refuses a lease request permanently, so that no copy of it gets a lease. */
function refuse(driver: WorldDriver, word: string, [number, journal = '', no]: string[]): void {
  const { refused } = driver.world;
  refused[journal] = Math.max(refused[journal] ?? 0, Number(no));
  driver.send(`${word} ${number} ${journal} ${no}`);
}

function sendGrant(driver: WorldDriver, number: number, { no, id }: { no: string; id: string }): void {
  const lease = driver.world.leases.find((each) => each.id === id);
  driver.send(`granted ${number} ${lease?.journal} ${no}=${id} ${lease?.amount}`);
}

/** Handles a reported charge. */
export function settle(driver: WorldDriver, words: string[]): void {
  const { world, rules } = driver;
  const [number = '', request = '', leaseId = ''] = words;
  const lease = world.leases.find(({ id }) => id === leaseId);
  if (!lease) return;
  const times = world.charged.filter((charged) => charged === Number(request)).length;
  if (times < (rules.dedupes ? 1 : 2)) {
    world.charged.push(Number(request));
    world.charged.sort((one, other) => one - other);
    world.revenue += 1;
    if (isCovered(lease)) lease.charged += 1;
    else if (lease.state === 'open') world.violation = 'a lease was overspent';
    else if (world.balance >= 1) world.balance -= 1;
    else world.writtenOff += 1;
  }
  driver.send(`settled ${number} ${lease.journal} ${request}`);
}

/** Whether the lease can pay one more charge, by the rule of the control plane. */
function isCovered(lease: ModelLease): boolean {
  const left = { cash: BigInt(lease.amount - lease.charged), gift: 0n, open: lease.state === 'open' };
  const charge = { requestId: '', journalId: '', seq: 1, leaseId: lease.id, walletId: '', amount: 1n };
  return planSettlement([charge], new Map([[lease.id, left]])).covered.length === 1;
}

/** Handles a close message. */
export function close(driver: WorldDriver, words: string[]): void {
  const { world, rules } = driver;
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
  if (verdict === 'TOO_EARLY') return driver.send(`not-closed ${number} ${journal} ${leaseId}`);
  if (verdict === 'CLOSE') {
    const early = world.messages.find((message) => isUncounted(world, message, leaseId));
    if (early) world.violation = `${leaseId} was closed before ${early} arrived`;
    lease.state = 'closed';
    world.balance += lease.amount - lease.charged;
  }
  driver.send(`closed ${number} ${journal} ${leaseId}`);
}

/** Whether the message reports a charge of the lease that the control plane has not counted. */
function isUncounted({ charged }: World, message: string, leaseId: string): boolean {
  const [kind, , request, lease] = message.split(' ');
  return kind === 'settle' && lease === leaseId && !charged.includes(Number(request));
}

const STATES = { open: 'ACTIVE', closed: 'CLOSED', reclaimed: 'RECLAIMED' } as const;
