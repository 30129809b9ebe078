/** Sends lease messages to the control plane. Each result, even a failure, is an event of the money rules. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { NodeLeaseAnswer, NodeLeaseRequestInput } from '@gateway/shared/lease-api';
import type { Control } from '../control/client.ts';
import { ControlError } from '../control/error.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';

/** Largest value of GraphQL's Int. */
const INT_MAX = 2 ** 31 - 1;

/** Connection to the control plane, and the node and journal in whose name leases are requested. */
export interface LeaseRequestContext {
  control: Pick<Control, 'requestLease' | 'closeLease'>;
  log: { warn(fields: object, message: string): void };
  journalId: string;
  /** Undefined until the node is registered; until then nothing is sent. */
  nodeId: string | undefined;
}

/** Sends a lease request once. Never rejects. */
export async function requestLease(
  { control, log, journalId, nodeId }: LeaseRequestContext,
  { request, budget }: Pick<Extract<LedgerEffect, { type: 'REQUEST' }>, 'request' | 'budget'>,
): Promise<LedgerEvent> {
  const { no, want, need, waiting } = request;
  const { walletId, keyId } = budget;
  try {
    if (nodeId === undefined) return { type: 'UNANSWERED', no };
    const answer = await control.requestLease({
      nodeId,
      journalId,
      ...requestNumberFields(no),
      walletId,
      ...(keyId !== null && { keyId }),
      want: formatDollars(want),
      need: formatDollars(need),
      waiting: formatDollars(waiting),
    });
    return eventOfAnswer(no, answer, log);
  } catch (error) {
    if (!isUnreadable(error)) return { type: 'UNANSWERED', no };
    // Sending it again would fail each time, and block all further requests of the wallet.
    log.warn(
      { reason: error.message },
      'the control plane cannot read a lease request; it is given up: update the control plane',
    );
    return { type: 'REFUSED', no, code: 'unavailable' };
  }
}

function isUnreadable(error: unknown): error is ControlError {
  return error instanceof ControlError && error.code === 'BAD_USER_INPUT';
}

/** A journal may send more requests than an Int can count: leases of small wallets cover one request each. */
function requestNumberFields(no: number): Pick<NodeLeaseRequestInput, 'requestNo' | 'requestNumber'> {
  return no <= INT_MAX ? { requestNo: no } : { requestNo: 0, requestNumber: String(no) };
}

/** Sends a close message with the lease's charges once. Never rejects. */
export async function closeLease(
  { control, log, journalId, nodeId }: LeaseRequestContext,
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
    // A lease that the control plane does not know as open needs no closing.
    const isGone = refused?.code === 'NOT_FOUND';
    if (!ok)
      log.warn({ leaseId, count, reason: refused?.message }, 'the control plane did not close a lease');
    return { type: ok || isGone ? 'CLOSED' : 'NOT_CLOSED', leaseId };
  } catch {
    return { type: 'NOT_CLOSED', leaseId };
  }
}

/** The event that an answer to lease request `no` stands for. */
export function eventOfAnswer(
  no: number,
  answer: NodeLeaseAnswer,
  log: LeaseRequestContext['log'],
): LedgerEvent {
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
        'a lease was refused for an unknown reason; the requests that wait for it are answered with 503',
      );
      return { type: 'REFUSED', no, code: 'unavailable' };
  }
}
