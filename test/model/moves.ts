/** Everything that can happen next in the world of the model check. */
import { close, grant, settle } from './control.ts';
import { DEADLINE_MS } from './world.ts';
import type { Mover } from './world.ts';

/** One thing that can happen: a name for the trace, and what it does. */
export type Move = [name: string, apply: (mover: Mover) => void];

/** All moves of the state. Those that change nothing are found out by comparing states. */
export function movesOf(mover: Mover): Move[] {
  return [...messageMoves(mover), ...timeMoves(mover), ...requestMoves(mover), ...nodeMoves(mover)];
}

function messageMoves({ world }: Mover): Move[] {
  return world.messages.map((message) => [message, (mover) => deliver(mover, message)]);
}

/** Delivers one message; it stays in the world and may be delivered again. */
export function deliver(mover: Mover, message: string): void {
  const [kind = '', ...words] = message.split(' ');
  const number = Number(words[0]);
  switch (kind) {
    case 'ask':
      return grant(mover, number, words);
    case 'settle':
      return settle(mover, words);
    case 'close':
      return close(mover, words);
    case 'recall':
      return recall(mover, words[0] ?? '');
    default:
      return answer(mover, kind, words);
  }
}

function answer(mover: Mover, kind: string, [at, journal, what = '', amount]: string[]): void {
  const number = Number(at);
  const node = mover.at(number);
  // A connection dies with its process, and an answer belongs to the journal that asked.
  if (!node.up || node.book.journalId !== journal) return;
  if (kind === 'granted') {
    const [no, leaseId = ''] = what.split('=');
    mover.tell(number, {
      type: 'GRANTED',
      no: Number(no),
      leaseId,
      amount: BigInt(amount ?? 0),
      deadlineMs: DEADLINE_MS,
    });
  } else if (kind === 'refused') {
    mover.tell(number, { type: 'REFUSED', no: Number(what), code: 'insufficient_funds' });
  } else if (kind === 'ended') {
    mover.tell(number, { type: 'REFUSED', no: Number(what), code: 'unavailable' });
  } else if (kind === 'conflict') {
    mover.tell(number, { type: 'CONFLICT', no: Number(what) });
  } else if (kind === 'settled') {
    const next = node.charges[node.book.settledSeq];
    if (next && String(next[0]) === what) mover.settled(number, next[1]);
  } else if (kind === 'closed') {
    mover.tell(number, { type: 'CLOSED', leaseId: what });
  } else if (kind === 'not-closed') {
    mover.tell(number, { type: 'NOT_CLOSED', leaseId: what });
  }
}

function recall(mover: Mover, leaseId: string): void {
  const lease = mover.world.leases.find(({ id }) => id === leaseId);
  if (!lease) return;
  const { up, book } = mover.at(lease.node);
  if (!up) return;
  if (book.journalId === lease.journal) lease.heard = true;
  mover.tell(lease.node, { type: 'RECALL', leaseId });
}

function timeMoves({ world, rules, bounds }: Mover): Move[] {
  const moves: Move[] = [];
  if (world.reclaims >= bounds.reclaims) return moves;
  for (const [number, node] of world.nodes.entries()) {
    if (!node.late)
      moves.push([
        `late ${number}`,
        (mover) => {
          mover.at(number).late = true;
        },
      ]);
  }
  for (const [at, lease] of world.leases.entries()) {
    // A lease that was granted after the time had passed is as fresh as one was before.
    const ranOut = world.nodes[lease.node]?.late === true && !lease.late;
    const due = ranOut || !rules.reclaimsAfterDeadline;
    if (lease.state === 'open' && due) moves.push([`reclaim ${lease.id}`, (mover) => reclaim(mover, at)]);
  }
  return moves;
}

/** The control plane takes the rest of a lease back, whatever its node thinks of it. */
export function reclaim({ world }: Mover, at: number): void {
  const lease = world.leases[at];
  if (!lease) return;
  lease.state = 'reclaimed';
  world.balance += lease.amount - lease.charged;
  world.reclaims += 1;
}

function requestMoves(mover: Mover): Move[] {
  const { world } = mover;
  const moves: Move[] = [];
  for (const [number, request] of world.requests.entries()) {
    const node = world.nodes[request.node];
    const name = `r${number}`;
    switch (request.phase) {
      case 'new':
        for (const [at, each] of world.nodes.entries()) {
          if (each.up) moves.push([`start ${name} on ${at}`, (mover) => mover.start(number, at)]);
        }
        break;
      case 'waiting':
        moves.push([
          `give up ${name}`,
          (mover) => mover.tell(request.node, { type: 'GIVE_UP', waiter: number, purseId: 'w', final: true }),
        ]);
        break;
      case 'held':
        moves.push(...heldMoves(mover, number));
        break;
      case 'checked':
      case 'sent':
        if (node?.up) moves.push([`write ${name}`, (mover) => mover.write(number)]);
        break;
      case 'committed':
        moves.push([
          `last byte ${name}`,
          (mover) => Object.assign(mover.request(number), { phase: 'done', seen: 'all' }),
        ]);
        break;
      default:
        break;
    }
  }
  return moves;
}

/** What can become of a request that has its money. */
function heldMoves({ world, rules }: Mover, number: number): Move[] {
  const name = `r${number}`;
  const moves: Move[] = [[`fail ${name}`, (mover) => mover.fail(number)]];
  const end = (phase: 'sent' | 'done') => (mover: Mover) =>
    void Object.assign(mover.request(number), { phase, seen: 'all' });
  if (world.requests[number]?.seen === 'nothing') {
    moves.push([`content ${name}`, (mover) => void Object.assign(mover.request(number), { seen: 'part' })]);
  } else if (rules.commits === 'after-last-byte') {
    moves.push([`last byte ${name}`, end('sent')]);
  } else if (rules.commits === 'at-start') {
    moves.push([`end ${name}`, end('done')]);
  } else {
    moves.push([`check ${name}`, (mover) => mover.check(number, false)]);
    moves.push([`leave ${name}`, (mover) => mover.check(number, true)]);
  }
  return moves;
}

function nodeMoves({ world, bounds }: Mover): Move[] {
  const moves: Move[] = [];
  for (const [number, node] of world.nodes.entries()) {
    if (!node.up) {
      moves.push([`restart ${number}`, (mover) => mover.restart(number)]);
      continue;
    }
    moves.push([`report ${number}`, (mover) => mover.report(number)]);
    moves.push([`tick ${number}`, (mover) => mover.tell(number, { type: 'TICK' })]);
    moves.push([`retry ${number}`, (mover) => mover.tell(number, { type: 'RETRY', purseId: 'w' })]);
    if (node.noted.length > 0) moves.push([`flush ${number}`, (mover) => mover.flush(number)]);
    if (world.crashes < bounds.crashes) {
      moves.push([
        `crash ${number}`,
        (mover) => {
          mover.world.crashes += 1;
          mover.crash(number, false);
        },
      ]);
    }
    if (world.diskLosses < bounds.diskLosses) {
      moves.push([
        `disk of ${number} is lost`,
        (mover) => {
          mover.world.diskLosses += 1;
          mover.crash(number, true);
        },
      ]);
    }
  }
  return moves;
}
