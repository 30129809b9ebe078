/** The senders of requests on the connections of a node, and the pace of their requests. */
import type { Socket } from 'node:net';
import { PIPELINE_REFUSAL_MS } from '@gateway/shared/refused-work';
import type { Payers } from '@gateway/shared/refused-work';
import { RequestPace } from '@gateway/shared/request-pace';
import type { BodyParts } from '../call/body.ts';
import type { Services } from '../services.ts';

/** The wallet and the network to which a connection belongs, as far as they are known. */
export function payersOf({ strangers, walletConnections }: Services, socket: Socket): Payers {
  return { caller: walletConnections.walletOf(socket), network: strangers.networkOf(socket) };
}

/**
 * Answers requests at the pace of their sender: the wallet of its key, else its network. A connection that
 * sends too many requests ahead counts as refused work of its sender.
 */
export function paceOf(services: Services, { refusedWork }: Pick<BodyParts, 'refusedWork'>): RequestPace {
  return new RequestPace({
    callerOf: ({ socket }) => {
      const { caller, network } = payersOf(services, socket);
      return caller ?? network;
    },
    onFull: ({ socket }) => refusedWork.spend(PIPELINE_REFUSAL_MS, payersOf(services, socket)),
  });
}
