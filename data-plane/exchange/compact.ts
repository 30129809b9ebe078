/**
 * Compacting a responses conversation: by the upstream itself where a route offers that, else by a chat
 * request for a summary.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import type { SoldModel } from '../config/config.ts';
import type { Inbound } from '../dialects/dialect.ts';
import type { Usage } from '../dialects/canonical.ts';
import { addressOf } from '../upstreams/pools.ts';
import type { Outgoing } from '../upstreams/send.ts';
import { ANSWER_BYTES, openParsedChat } from './chat.ts';
import type { ChatInput } from './chat.ts';
import type { Answer, Attempt, Candidate, Exchange } from './exchange.ts';
import { replaceMembers } from './json-members.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody } from './request-body.ts';
import { parseRequestBody } from './request-body.ts';

/** How compaction looks to clients (`inbound`) and where and how upstreams offer it. */
export interface Compaction {
  inbound: Inbound;
  path: string;
  /** The counters of an upstream's own compaction; throws `upstream_failed` where it is none. */
  readUsage(wire: unknown): Usage;
}

/** Reads a compaction request. Throws `invalid_request` naming what is wrong with it. */
export function openCompact(compaction: Compaction, input: ChatInput): Exchange {
  const body = parseRequestBody(input.bytes);
  const { path, headers } = input;
  const summary = openParsedChat(
    { inbound: compaction.inbound, dialect: undefined },
    { body, path, headers },
  );
  return new CompactExchange({ compaction, body, headers, summary });
}

interface CompactParts {
  compaction: Compaction;
  body: RequestBody;
  headers: IncomingHttpHeaders;
  /** The same as a chat request for a summary. */
  summary: Exchange;
}

class CompactExchange implements Exchange {
  readonly preferred = 'openai-responses';
  readonly streamed = false;
  readonly #parts: CompactParts;

  constructor(parts: CompactParts) {
    this.#parts = parts;
  }

  get model(): string {
    return this.#parts.summary.model;
  }

  checkLimits(model: SoldModel): void {
    this.#parts.summary.checkLimits(model);
  }

  outgoing(candidate: Candidate): Outgoing {
    const { compaction, body, headers, summary } = this.#parts;
    if (!offersCompaction(candidate)) return summary.outgoing({ ...candidate, native: false });
    const { prefix } = addressOf(candidate.provider);
    const model: [string, string] = ['model', JSON.stringify(candidate.route.upstreamModel)];
    const edits = new Map<string, string | undefined>([model]);
    if ('store' in body.value) edits.set('store', undefined);
    return {
      method: 'POST',
      path: prefix + compaction.path,
      body: replaceMembers(body.bytes, body.members, edits),
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, 'application/json'),
      },
    };
  }

  async receive(attempt: Attempt): Promise<Answer> {
    const { compaction, summary } = this.#parts;
    const { candidate } = attempt;
    if (!offersCompaction(candidate)) {
      return summary.receive({ ...attempt, candidate: { ...candidate, native: false } });
    }
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const { tokens } = compaction.readUsage(parse(bytes));
    attempt.settle();
    return {
      routeId: candidate.route.id,
      deliver: async (reply, bill) => {
        bill.count(tokens, 0);
        await bill.commit('DELIVERED');
        reply.whole(200, 'application/json', bytes);
      },
    };
  }
}

/** The route offers the family, and its upstream speaks the format that has it. */
function offersCompaction({ native, route }: Candidate): boolean {
  return native && route.families.includes('compact');
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    const message = 'The model answered with something unreadable. Try again.';
    throw new GatewayError('upstream_failed', message, { cause });
  }
}
