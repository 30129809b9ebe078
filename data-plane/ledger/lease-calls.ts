/** Asks for leases and gives them back: whatever comes of it is an event of the money rules. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { NodeLeaseAnswer, NodeLeaseRequestInput } from '@gateway/shared/node-api';
import type { Control } from '../control.ts';
import { ControlError } from '../control-error.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';

/** GraphQL's Int ends here. */
const INT_MAX = 2 ** 31 - 1;

/** Whose leases they are, and who is asked. */
export interface LeaseCaller {
  control: Pick<Control, 'requestLease' | 'closeLease'>;
  log: { warn(fields: object, message: string): void };
  journalId: string;
  /** Undefined until the node is registered: till then nobody is asked. */
  nodeId: string | undefined;
}

/** Asks for a lease once. Never throws. */
export async function askForLease(
  { control, log, journalId, nodeId }: LeaseCaller,
  { request, purse }: Pick<Extract<LedgerEffect, { type: 'REQUEST' }>, 'request' | 'purse'>,
): Promise<LedgerEvent> {
  const { no, want, need, waiting } = request;
  const { walletId, keyId } = purse;
  try {
    if (nodeId === undefined) return { type: 'UNANSWERED', no };
    const answer = await control.requestLease({
      nodeId,
      journalId,
      ...numbered(no),
      walletId,
      ...(keyId !== null && { keyId }),
      want: formatDollars(want),
      need: formatDollars(need),
      waiting: formatDollars(waiting),
    });
    return understand(no, answer, log);
  } catch (error) {
    if (!isUnreadable(error)) return { type: 'UNANSWERED', no };
    // It would be answered the same each time, and stand in the way of all other questions of the wallet.
    log.warn({ reason: error.message }, 'the control plane cannot read a question for a lease');
    return { type: 'REFUSED', no, code: 'unavailable' };
  }
}

function isUnreadable(error: unknown): error is ControlError {
  return error instanceof ControlError && error.code === 'BAD_USER_INPUT';
}

/** A journal may ask more often than an Int counts: of small wallets, leases are single requests. */
function numbered(no: number): Pick<NodeLeaseRequestInput, 'requestNo' | 'requestNumber'> {
  return no <= INT_MAX ? { requestNo: no } : { requestNo: 0, requestNumber: String(no) };
}

/** Gives a lease back once, with what was charged to it. Never throws. */
export async function closeLease(
  { control, log, journalId, nodeId }: LeaseCaller,
  { leaseId, count, sum }: Extract<LedgerEffect, { type: 'CLOSE' }>,
): Promise<LedgerEvent> {
  try {
    if (nodeId === undefined) return { type: 'NOT_CLOSED', leaseId };
    const { ok, userErrors } = await control.closeLease({
      nodeId,
      journalId,
      leaseId,
      count,
      sum: formatDollars(sum),
    });
    const [refused] = userErrors;
    // What the control plane does not know as open any more needs no closing.
    const gone = refused?.code === 'NOT_FOUND';
    if (!ok) log.warn({ leaseId, count, reason: refused?.message }, 'a lease was not closed');
    return { type: ok || gone ? 'CLOSED' : 'NOT_CLOSED', leaseId };
  } catch {
    return { type: 'NOT_CLOSED', leaseId };
  }
}

/** What an answer to a request for a lease means to the money rules. */
export function understand(no: number, answer: NodeLeaseAnswer, log: LeaseCaller['log']): LedgerEvent {
  const {
    leaseId,
    deadlineMs,
    userErrors: [refused],
  } = answer;
  const amount = parseDollars(answer.granted);
  if (leaseId !== null && amount !== undefined) return { type: 'GRANTED', no, leaseId, amount, deadlineMs };
  switch (refused?.code) {
    case 'CONFLICT':
      return { type: 'CONFLICT', no };
    case 'INSUFFICIENT_BALANCE':
      return { type: 'REFUSED', no, code: 'insufficient_funds' };
    case 'SPEND_LIMIT_REACHED':
      return { type: 'REFUSED', no, code: 'spend_limit_reached' };
    case 'WALLET_FROZEN':
      return { type: 'REFUSED', no, code: 'wallet_frozen' };
    default:
      log.warn(
        { code: refused?.code, reason: refused?.message },
        'a lease was refused for an unknown reason',
      );
      return { type: 'REFUSED', no, code: 'unavailable' };
  }
}
