/** Delivers an answer that has arrived completely: charged first, then sent in one piece. */
import type { ByteText } from '../call/byte-text.ts';
import { replay } from '../dialects/answer.ts';
import type { ChatResponse } from '../dialects/canonical.ts';
import { lossesOf } from '../dialects/dialect.ts';
import type { Losses } from '../dialects/dialect.ts';
import type { TokenCounts } from '@gateway/shared/records';
import type { AnsweredAttempt } from '../upstreams/attempt.ts';
import { nameDropped } from './dropped.ts';
import type { Answer } from './exchange.ts';

/** An answer in the client's format. */
interface WholeAnswer {
  contentType: string;
  bytes: Buffer | ByteText | string;
  tokens: TokenCounts;
  /** JSON pointers of the parts of the request that the upstream's format could not carry. */
  dropped?: readonly string[];
  /** Number of parts of the answer that the client's format could not carry. */
  losses?: number;
}

/** The answer, ready to be delivered: the charge is durable before its first byte is sent. */
export function wholeAnswer({ candidate, counted }: AnsweredAttempt, answer: WholeAnswer): Answer {
  counted(answer.tokens);
  return {
    routeId: candidate.route.id,
    deliver: async (reply, bill) => {
      if (answer.dropped) nameDropped(answer.dropped, reply);
      bill.count(answer.tokens, answer.losses ?? 0);
      await bill.commit('DELIVERED');
      reply.whole(200, answer.contentType, answer.bytes);
    },
  };
}

/** Number of parts of the answer that the client's format cannot carry. */
export function countLosses(response: ChatResponse, losses: Losses): number {
  let count = 0;
  for (const event of replay(response)) count += lossesOf(event, losses);
  return count;
}
