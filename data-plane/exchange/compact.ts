/**
 * Compacts a responses conversation: at the upstream if the route offers that, else by a chat request for a
 * summary.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { SoldModel } from '../config/config.ts';
import type { Inbound } from '../dialects/dialect.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { Usage } from '../dialects/canonical.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import { ANSWER_BYTES, openParsedChat } from './chat.ts';
import type { ChatInput } from './chat.ts';
import { refuseLosses } from './dropped.ts';
import type { Answer, Exchange } from './exchange.ts';
import { replaceMembers } from './json-members.ts';
import { unknownOf } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody } from './request-body.ts';
import { parseChatBody } from './request-body.ts';
import { asUnreadable } from './unreadable.ts';
import { wholeAnswer } from './whole-answer.ts';

/** Compaction as clients (`inbound`) and upstreams see it. */
interface Compaction {
  inbound: Inbound;
  /** Below the upstream's base URL. */
  path: string;
  /** The token counts of an upstream's compaction. Throws `upstream_failed` for any other answer. */
  readUsage(wire: unknown): Usage;
}

/** The exchange for a compaction request. Throws `invalid_request` naming the parameter. */
export function openCompact(compaction: Compaction, input: ChatInput): Exchange {
  const body = parseChatBody(input.bytes, compaction.inbound.mirror?.members);
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
  /** The chat request for a summary, for upstreams without compaction. */
  summary: Exchange;
}

class CompactExchange implements Exchange {
  readonly preferred = 'openai-responses';
  readonly streamed = false;
  readonly #parts: CompactParts;
  #passUnknown = false;
  #dropped: string[] = [];

  constructor(parts: CompactParts) {
    this.#parts = parts;
  }

  get model(): string {
    return this.#parts.summary.model;
  }
  get conversation(): string | undefined {
    return this.#parts.summary.conversation;
  }

  checkLimits(model: SoldModel): void {
    this.#parts.summary.checkLimits(model);
    this.#passUnknown = model.passUnknown;
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { compaction, body, headers, summary } = this.#parts;
    if (!offersCompaction(candidate)) return summary.outgoing(candidate);
    const { prefix } = addressOf(candidate.provider);
    const model: [string, string] = ['model', JSON.stringify(candidate.route.upstreamModel)];
    const edits = new Map<string, string | undefined>([model]);
    if ('store' in body.outline) edits.set('store', undefined);
    const removals = this.#passUnknown ? [] : unknownOf(body);
    this.#dropped = removals.map(pointerOf);
    refuseLosses(this.#dropped, headers);
    return {
      method: 'POST',
      path: prefix + compaction.path,
      body: replaceMembers(body.bytes, body.members, { edits, removals }),
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, 'application/json'),
      },
    };
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const { compaction, summary } = this.#parts;
    const { candidate } = attempt;
    if (!offersCompaction(candidate)) return summary.receive(attempt);
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const { tokens } = compaction.readUsage(parse(bytes));
    attempt.settle();
    return wholeAnswer(attempt, { contentType: 'application/json', bytes, tokens, dropped: this.#dropped });
  }
}

/** Whether the route offers compaction and the format of its upstream has it. */
function offersCompaction({ native, route }: Candidate): boolean {
  return native && route.families.includes('compact');
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw asUnreadable(cause);
  }
}
