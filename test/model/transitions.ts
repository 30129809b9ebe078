/** The possible transitions of the model check's world. */
import { close, grant, settle } from './control.ts';
import { DEADLINE_MS } from './world.ts';
import type { WorldDriver } from './world.ts';

/** One transition: its name in traces, and its effect. */
export type Transition = [name: string, apply: (driver: WorldDriver) => void];

/** All transitions of a state. Some may change nothing; comparing states detects those. */
export function transitionsOf(driver: WorldDriver): Transition[] {
  return [
    ...messageTransitions(driver),
    ...timeTransitions(driver),
    ...requestTransitions(driver),
    ...nodeTransitions(driver),
  ];
}

function messageTransitions({ world }: WorldDriver): Transition[] {
  return world.messages.map((message) => [message, (driver) => deliver(driver, message)]);
}

/**
 * Delivers one message. It stays in the world, so it may be delivered again. Nodes send `ask` for a lease
 * request, `settle` for a charge and `close`. The control plane sends `granted`, `refused` (no money),
 * `ended` (no lease for other reasons), `conflict`, `settled`, `closed`, `not-closed` and `recall`.
 */
export function deliver(driver: WorldDriver, message: string): void {
  const [kind = '', ...words] = message.split(' ');
  const number = Number(words[0]);
  switch (kind) {
    case 'ask':
      return grant(driver, number, words);
    case 'settle':
      return settle(driver, words);
    case 'close':
      return close(driver, words);
    case 'recall':
      return recall(driver, words[0] ?? '');
    default:
      return answer(driver, kind, words);
  }
}

function answer(driver: WorldDriver, kind: string, [at, journal, what = '', amount]: string[]): void {
  const number = Number(at);
  const node = driver.nodeAt(number);
  // An answer reaches only the process and the journal that sent the request.
  if (!node.up || node.journal.journalId !== journal) return;
  if (kind === 'granted') {
    const [no, leaseId = ''] = what.split('=');
    driver.dispatch(number, {
      type: 'GRANTED',
      no: Number(no),
      leaseId,
      amount: BigInt(amount ?? 0),
      deadlineMs: DEADLINE_MS,
    });
  } else if (kind === 'refused') {
    driver.dispatch(number, { type: 'REFUSED', no: Number(what), code: 'insufficient_funds' });
  } else if (kind === 'ended') {
    driver.dispatch(number, { type: 'REFUSED', no: Number(what), code: 'unavailable' });
  } else if (kind === 'conflict') {
    driver.dispatch(number, { type: 'CONFLICT', no: Number(what) });
  } else if (kind === 'settled') {
    const next = node.charges[node.journal.settledSeq];
    if (next && String(next[0]) === what) driver.settled(number, next[1]);
  } else if (kind === 'closed') {
    driver.dispatch(number, { type: 'CLOSED', leaseId: what });
  } else if (kind === 'not-closed') {
    driver.dispatch(number, { type: 'NOT_CLOSED', leaseId: what });
  }
}

function recall(driver: WorldDriver, leaseId: string): void {
  const lease = driver.world.leases.find(({ id }) => id === leaseId);
  if (!lease) return;
  const { up, journal } = driver.nodeAt(lease.node);
  if (!up) return;
  if (journal.journalId === lease.journal) lease.recallDelivered = true;
  driver.dispatch(lease.node, { type: 'RECALL', leaseId });
}

function timeTransitions({ world, rules, bounds }: WorldDriver): Transition[] {
  const transitions: Transition[] = [];
  if (world.reclaims >= bounds.reclaims) return transitions;
  for (const [number, node] of world.nodes.entries()) {
    if (!node.late)
      transitions.push([
        `late ${number}`,
        (driver) => {
          driver.nodeAt(number).late = true;
        },
      ]);
  }
  for (const [at, lease] of world.leases.entries()) {
    // A lease that was granted after the time passed has its whole deadline ahead.
    const ranOut = world.nodes[lease.node]?.late === true && !lease.late;
    const due = ranOut || !rules.reclaimsAfterDeadline;
    if (lease.state === 'open' && due)
      transitions.push([`reclaim ${lease.id}`, (driver) => reclaim(driver, at)]);
  }
  return transitions;
}

/** The control plane reclaims the rest of a lease without its node. */
export function reclaim({ world }: WorldDriver, at: number): void {
  const lease = world.leases[at];
  if (!lease) return;
  lease.state = 'reclaimed';
  world.balance += lease.amount - lease.charged;
  world.reclaims += 1;
}

function requestTransitions(driver: WorldDriver): Transition[] {
  const { world } = driver;
  const transitions: Transition[] = [];
  for (const [number, request] of world.requests.entries()) {
    const node = world.nodes[request.node];
    const name = `r${number}`;
    switch (request.phase) {
      case 'new':
        for (const [at, each] of world.nodes.entries()) {
          if (each.up) transitions.push([`start ${name} on ${at}`, (driver) => driver.start(number, at)]);
        }
        break;
      case 'waiting':
        transitions.push([
          `give up ${name}`,
          (driver) =>
            driver.dispatch(request.node, { type: 'GIVE_UP', waiter: number, budgetId: 'w', final: true }),
        ]);
        break;
      case 'held':
        transitions.push(...heldTransitions(driver, number));
        break;
      case 'checked':
      case 'sent':
        if (node?.up) transitions.push([`write ${name}`, (driver) => driver.write(number)]);
        break;
      case 'committed':
        transitions.push([
          `last byte ${name}`,
          (driver) => Object.assign(driver.request(number), { phase: 'done', seen: 'all' }),
        ]);
        break;
      default:
        break;
    }
  }
  return transitions;
}

/** Transitions of a request that has its hold. */
function heldTransitions({ world, rules }: WorldDriver, number: number): Transition[] {
  const name = `r${number}`;
  const transitions: Transition[] = [[`fail ${name}`, (driver) => driver.fail(number)]];
  const end = (phase: 'sent' | 'done') => (driver: WorldDriver) =>
    void Object.assign(driver.request(number), { phase, seen: 'all' });
  if (world.requests[number]?.seen === 'nothing') {
    transitions.push([
      `content ${name}`,
      (driver) => void Object.assign(driver.request(number), { seen: 'part' }),
    ]);
  } else if (rules.commits === 'after-last-byte') {
    transitions.push([`last byte ${name}`, end('sent')]);
  } else if (rules.commits === 'at-start') {
    transitions.push([`end ${name}`, end('done')]);
  } else {
    transitions.push([`check ${name}`, (driver) => driver.check(number, false)]);
    transitions.push([`leave ${name}`, (driver) => driver.check(number, true)]);
  }
  return transitions;
}

function nodeTransitions({ world, bounds }: WorldDriver): Transition[] {
  const transitions: Transition[] = [];
  for (const [number, node] of world.nodes.entries()) {
    if (!node.up) {
      transitions.push([`restart ${number}`, (driver) => driver.restart(number)]);
      continue;
    }
    transitions.push([`report ${number}`, (driver) => driver.report(number)]);
    transitions.push([`tick ${number}`, (driver) => driver.dispatch(number, { type: 'TICK' })]);
    transitions.push([
      `retry ${number}`,
      (driver) => driver.dispatch(number, { type: 'RETRY', budgetId: 'w' }),
    ]);
    if (node.queuedRecords.length > 0)
      transitions.push([`flush ${number}`, (driver) => driver.flush(number)]);
    if (world.crashes < bounds.crashes) {
      transitions.push([
        `crash ${number}`,
        (driver) => {
          driver.world.crashes += 1;
          driver.crash(number, false);
        },
      ]);
    }
    if (world.diskLosses < bounds.diskLosses) {
      transitions.push([
        `disk of ${number} is lost`,
        (driver) => {
          driver.world.diskLosses += 1;
          driver.crash(number, true);
        },
      ]);
    }
  }
  return transitions;
}
