/**
 * Web search as agent CLIs send it: passed on if the upstream offers it, else asked of a model that can
 * search with a tool of its provider.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import type { DialectName } from '@gateway/shared/catalog';
import type { SoldModel } from '../config/config.ts';
import type { ChatRequest, ChatResponse, Citation } from '../dialects/canonical.ts';
import { Fields, parseObject, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { pointerOf } from '../dialects/member-table.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import { refuseLosses } from './dropped.ts';
import type { Answer, Exchange } from './exchange.ts';
import { refusePriced, refuseStored, unknownOf } from './mirror.ts';
import { jsonPayload } from './open-relay.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import { checkModelLimits } from './relay.ts';
import { checkWhole } from './relay-answer.ts';
import { RELAY_MEMBERS } from './relay-members.ts';
import { parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';
import { readSearchQuery } from './search-query.ts';
import type { SearchQuery } from './search-query.ts';
import { wholeAnswer } from './whole-answer.ts';

const ANSWER_BYTES = 16 * 1024 * 1024;
const JSON_TYPE = 'application/json';
/** Maximum length of a model's report with its reasoning, in tokens. */
const OUTPUT_TOKENS = 8_000;
/** Maximum number of sources in one answer. */
const SOURCES = 20;

const INSTRUCTIONS =
  'You are a search tool for another program. Use web search to do everything that is asked below, then ' +
  'report what you found: facts, figures, dates and short quotes, each with the title and the full URL of ' +
  'its source. Report only what you found. If something cannot be found or opened, say so.';

/** The exchange for a search request. Throws `invalid_request` naming the parameter. */
export function openSearch(bytes: Buffer, headers: IncomingHttpHeaders): Exchange {
  const body = parseRequestBody(bytes, RELAY_MEMBERS.search);
  const model = new Fields(body.value).requiredString('model');
  const query = readSearchQuery(body.value);
  refuseStored(body);
  return new SearchExchange({ model, query, body, headers });
}

interface SearchParts {
  model: string;
  query: SearchQuery;
  body: RequestBody;
  headers: IncomingHttpHeaders;
}

class SearchExchange implements Exchange {
  readonly streamed = false;
  readonly preferred: DialectName = 'openai-responses';
  readonly capable = FAMILY_PROTOCOLS.search;
  readonly #parts: SearchParts;
  #passUnknown = false;
  #dropped: string[] = [];

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  get model(): string {
    return this.#parts.model;
  }

  checkLimits(model: SoldModel): void {
    const { query, body } = this.#parts;
    const inputs = { count: query.tasks.length, parameter: 'commands' };
    this.#passUnknown = model.passUnknown;
    checkModelLimits({ model: this.model, streamed: false, inputs }, body.bytes.length, model);
    refusePriced(body, model);
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { query, body, headers } = this.#parts;
    const { prefix } = addressOf(candidate.provider);
    const { upstreamModel } = candidate.route;
    const native = isNative(candidate);
    const removals = native && !this.#passUnknown ? unknownOf(body) : [];
    this.#dropped = removals.map(pointerOf);
    refuseLosses(this.#dropped, headers);
    const encoded = native
      ? {
          path: '/alpha/search',
          body: jsonPayload(body).withModel(upstreamModel, removals).body,
          headers: {},
        }
      : encodeChat(candidate, searchChat(this.model, query));
    return {
      method: 'POST',
      path: prefix + encoded.path,
      body: encoded.body,
      headers: {
        'content-type': JSON_TYPE,
        ...outgoingHeaders(candidate, headers, JSON_TYPE),
        ...encoded.headers,
      },
    };
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    if (isNative(attempt.candidate)) {
      const tokens = checkWhole('json', JSON_TYPE, bytes);
      attempt.settle();
      return wholeAnswer(attempt, { contentType: JSON_TYPE, bytes, tokens, dropped: this.#dropped });
    }
    const value = parseObject(bytes.toString('utf8'));
    if (!value) throw unreadableAnswer('the answer is not a JSON object');
    const response = attempt.candidate.dialect.outbound.decodeResponse(value);
    const report = reportOf(response);
    attempt.settle();
    return wholeAnswer(attempt, {
      contentType: JSON_TYPE,
      bytes: JSON.stringify(report),
      tokens: response.tokens,
    });
  }
}

/** Whether the route offers search and its upstream speaks one of OpenAI's formats, so that it can search. */
function isNative({ route, dialect }: Candidate): boolean {
  return route.families.includes('search') && dialect.name.startsWith('openai-');
}

function encodeChat({ dialect, route }: Candidate, request: ChatRequest) {
  const { path, body, headers } = dialect.outbound.encodeRequest(request, route.upstreamModel);
  return { path, headers, body: JSON.stringify(body) };
}

/** The query as a chat request to a model with a web-search tool. */
function searchChat(
  model: string,
  { tasks, allowedDomains, blockedDomains, tool }: SearchQuery,
): ChatRequest {
  const text = tasks.map((task, index) => `${index + 1}. ${task}`).join('\n');
  return {
    model,
    stream: false,
    choices: 1,
    messages: [
      { role: 'system', parts: [{ kind: 'text', text: INSTRUCTIONS, at: '' }], at: '' },
      { role: 'user', parts: [{ kind: 'text', text, at: '' }], at: '' },
    ],
    tools: [
      {
        kind: 'builtin',
        dialect: 'openai-responses',
        builtin: 'web-search',
        value: tool,
        at: '',
        ...(allowedDomains.length > 0 ? { allowedDomains } : {}),
        ...(blockedDomains.length > 0 ? { blockedDomains } : {}),
      },
    ],
    maxOutputTokens: OUTPUT_TOKENS,
    stop: [],
    pointers: {},
    extras: [],
    shape: {},
  };
}

/** The answer for the agent: the report and its sources. Throws `upstream_failed` if there is no report. */
function reportOf({ choices }: ChatResponse): JsonObject {
  const blocks = (choices[0]?.blocks ?? []).filter(({ kind }) => kind === 'text');
  const output = blocks
    .map(({ text }) => text)
    .join('')
    .trim();
  if (!output) throw unreadableAnswer('the answer to a search has no text');
  const results = sourcesOf(blocks.flatMap(({ citations }) => citations ?? []));
  const sources = results.map(({ title, url }) => `- ${textOf(title) || textOf(url)}: ${textOf(url)}`);
  return { output: sources.length > 0 ? `${output}\n\nSources:\n${sources.join('\n')}` : output, results };
}

function sourcesOf(citations: readonly Citation[]): JsonObject[] {
  const byUrl = new Map<string, JsonObject>();
  for (const { url, title, text } of citations) {
    if (url === undefined || byUrl.has(url) || byUrl.size >= SOURCES) continue;
    byUrl.set(url, { type: 'text_result', ref_id: url, url, title: title ?? url, snippet: text ?? '' });
  }
  return [...byUrl.values()];
}
