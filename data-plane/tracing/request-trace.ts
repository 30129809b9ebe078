/**
 * The trace of one request: a span for the request, and one for each upstream that is asked, with the names
 * of https://opentelemetry.io/docs/specs/semconv/gen-ai/. Spans hold no content.
 */
import type { Family, ProtocolName } from '@gateway/shared/catalog';
import type { TokenCounts, UsageRecord } from '@gateway/shared/records';
import type { Span, SpanAttributes, Tracing } from '@gateway/shared/tracing';
import type { Call } from '../call/call.ts';
import type { AttemptTrace, Candidate } from '../upstreams/attempt.ts';

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/: names of operations. */
const OPERATIONS: Partial<Record<Family, string>> = {
  chat_completions: 'chat',
  messages: 'chat',
  responses: 'chat',
  generative_language: 'generate_content',
  completions: 'text_completion',
  embeddings: 'embeddings',
};

/** The names of providers for formats. */
const PROVIDERS: Record<ProtocolName, string> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'anthropic-messages': 'anthropic',
  'google-generate': 'gcp.gemini',
  'bedrock-converse': 'aws.bedrock',
};

/** The spans of one request. */
export class RequestTrace {
  readonly #span: Span;
  readonly #operation: string;
  /** The span of the upstream whose answer is delivered; it ends with the request. */
  #answered: Span | undefined;

  constructor(span: Span, operation: string) {
    this.#span = span;
    this.#operation = operation;
  }

  /** Begins the span of an attempt, and returns its context for the upstream. */
  attempt(candidate: Candidate): AttemptTrace {
    const { route, provider } = candidate;
    const span = this.#span.child({
      name: `${this.#operation} ${route.upstreamModel}`,
      kind: 'CLIENT',
      attributes: {
        'gen_ai.operation.name': this.#operation,
        'gen_ai.provider.name': providerOf(candidate),
        'gen_ai.request.model': route.upstreamModel,
        'server.address': new URL(provider.baseUrl).hostname,
        'gateway.route.id': route.id,
      },
    });
    return {
      traceparent: span.traceparent,
      answered: () => {
        this.#answered = span;
      },
      failed: (error, status) => {
        if (this.#answered === span) this.#answered = undefined;
        span.end(status === null ? {} : { 'http.response.status_code': status }, error.code);
      },
    };
  }

  /** Ends the request, and the attempt whose answer was delivered. */
  end({ tokens, httpStatus, errorCode }: Pick<UsageRecord, 'tokens' | 'httpStatus' | 'errorCode'>): void {
    const errorType = errorCode ?? undefined;
    this.#answered?.end(tokensOf(tokens), errorType);
    this.#span.end({ 'http.response.status_code': httpStatus }, errorType);
  }
}

/** Begins the trace of a request; undefined if it is not traced. */
export function beginTrace(
  tracing: Tracing,
  { method, headers, id }: Pick<Call, 'method' | 'headers' | 'id'>,
  family: Family,
): RequestTrace | undefined {
  const operation = OPERATIONS[family] ?? family;
  const attributes: SpanAttributes = {
    'http.request.method': method,
    'gateway.family': family,
    'gateway.request.id': id,
  };
  const start = { name: `${method} ${family}`, kind: 'SERVER' as const, attributes };
  const span = tracing.begin(start, headers['traceparent']);
  return span && new RequestTrace(span, operation);
}

function providerOf({ provider, dialect }: Candidate): string {
  const { access } = provider;
  if (access?.style === 'BEDROCK') return 'aws.bedrock';
  if (access?.style === 'VERTEX') return 'gcp.vertex_ai';
  if (access?.auth === 'AZURE_API_KEY' || access?.auth === 'AZURE_ENTRA') return 'azure.ai.openai';
  return PROVIDERS[dialect.name];
}

function tokensOf({ input, output }: TokenCounts): SpanAttributes {
  return {
    ...(input !== null && { 'gen_ai.usage.input_tokens': input }),
    ...(output !== null && { 'gen_ai.usage.output_tokens': output }),
  };
}
