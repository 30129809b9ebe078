/**
 * Embeddings in the formats of OpenAI, Google and Cohere, each on upstreams of the first two: OpenAI's list
 * of inputs, and Google's single and batched calls. https://platform.openai.com/docs/api-reference/embeddings
 * https://ai.google.dev/api/embeddings
 */
import type { IncomingHttpHeaders } from 'node:http';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import type { SoldModel } from '../config/config.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import { parseObject } from '../dialects/fields.ts';
import { failureInsideAnswer, unreadableAnswer } from '../dialects/upstream-errors.ts';
import { withNames } from './answer-names.ts';
import { refuseLosses } from './dropped.ts';
import { GOOGLE, OPENAI } from './embedding-formats.ts';
import type { ClientEmbeddings, EmbeddingFormat, EmbeddingRequest } from './embedding-formats.ts';
import type { Answer, Exchange } from './exchange.ts';
import { refusePriced, refuseStored, unknownOf } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import { checkModelLimits } from './relay.ts';
import { parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';
import { wholeAnswer } from './whole-answer.ts';

/** Maximum size of an answer, in bytes: 2,048 vectors of 3,072 numbers as text. */
const ANSWER_BYTES = 128 * 1024 * 1024;

/** A client's request. */
interface EmbeddingInput {
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** The client's format. */
  own: ClientEmbeddings;
  /** Model and verb of Google's path. */
  path?: { model: string; batch: boolean };
}

/** The exchange for a request of any format. Throws `invalid_request` naming the parameter. */
export function openEmbeddings({ bytes, headers, own, path }: EmbeddingInput): Exchange {
  const body = parseRequestBody(bytes, own.members);
  const request = own.decodeRequest(body.value, path);
  refuseStored(body);
  return new EmbeddingExchange({ own, request, body, headers });
}

interface EmbeddingParts {
  own: ClientEmbeddings;
  request: EmbeddingRequest;
  body: RequestBody;
  headers: IncomingHttpHeaders;
}

class EmbeddingExchange implements Exchange {
  readonly streamed = false;
  readonly capable = FAMILY_PROTOCOLS.embeddings;
  readonly #parts: EmbeddingParts;
  #dropped: string[] = [];
  #passUnknown = false;
  /** The catalog's name of the model, for the answer. */
  #name = '';

  constructor(parts: EmbeddingParts) {
    this.#parts = parts;
  }

  get preferred() {
    return this.#parts.own.protocol;
  }
  get model(): string {
    return this.#parts.request.model;
  }

  checkLimits(model: SoldModel): void {
    const { request, body } = this.#parts;
    this.#name = model.name;
    this.#passUnknown = model.passUnknown;
    const inputs = { count: request.inputs.length, parameter: request.parameter };
    checkModelLimits({ model: request.model, streamed: false, inputs }, body.bytes.length, model);
    refusePriced(body, model);
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { own, request, body, headers } = this.#parts;
    const { upstreamModel } = candidate.route;
    const target = formatOf(candidate);
    const encoded =
      target === own
        ? target.mirrorRequest(body, upstreamModel, this.#passUnknown ? [] : unknownOf(body))
        : target.encodeRequest(request, upstreamModel);
    refuseLosses(encoded.dropped, headers);
    this.#dropped = encoded.dropped;
    return {
      method: 'POST',
      path: addressOf(candidate.provider).prefix + encoded.path,
      body: encoded.body,
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, 'application/json'),
      },
    };
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const { own, request } = this.#parts;
    const target = formatOf(attempt.candidate);
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const wire = parseObject(bytes.toString('utf8'));
    if (!wire) throw unreadableAnswer('the answer is not a JSON object');
    if (wire.error !== undefined && wire.error !== null) throw failureInsideAnswer('error in a success');
    const answer = target.decodeResponse(wire);
    if (answer.vectors.length !== request.inputs.length)
      throw unreadableAnswer(`${answer.vectors.length} vectors for ${request.inputs.length} inputs`);
    attempt.settle();
    const body =
      target === own
        ? withNames({ bytes }, { model: this.#name })
        : JSON.stringify(own.encodeResponse(answer, { ...request, model: this.#name }));
    const { tokens } = answer;
    const dropped = this.#dropped;
    return wholeAnswer(attempt, { contentType: 'application/json', bytes: body, tokens, dropped });
  }
}

function formatOf({ dialect }: Candidate): EmbeddingFormat {
  return dialect.name === 'google-generate' ? GOOGLE : OPENAI;
}
