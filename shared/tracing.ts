/**
 * Traces of both planes, in the terms that they need: settings, spans and the W3C trace context. The planes
 * load the OpenTelemetry SDK only if an endpoint is set, and pass its parts in: this folder imports no
 * package.
 */

/** Where traces are sent, and how many. */
interface TracingSettings {
  /** Base address of an OTLP receiver over HTTP, without a slash at the end. */
  endpoint: string;
  /** Share of the requests that are traced, from 0 to 1. */
  ratio: number;
  serviceName: string;
  /** Headers of every export, such as those with a token. */
  headers: Readonly<Record<string, string>>;
}

const RATIO_DEFAULT = 0.01;

/**
 * Reads `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS` (`name=value,…`), `OTEL_SERVICE_NAME` and
 * `OTEL_TRACES_SAMPLER_ARG`; null without an endpoint. Throws an Error that names a bad variable.
 */
export function readTracingSettings(
  env: Readonly<Record<string, string | undefined>>,
  serviceName: string,
): TracingSettings | null {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const text = env['OTEL_TRACES_SAMPLER_ARG'] || String(RATIO_DEFAULT);
  const headers = headersOf(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
  const name = env['OTEL_SERVICE_NAME'] || serviceName;
  if (!endpoint) return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address.');
  const ratio = Number(text);
  if (!/^[\d.]+$/.test(text) || !(ratio >= 0 && ratio <= 1))
    throw new Error('OTEL_TRACES_SAMPLER_ARG must be the share of traced requests, from 0 to 1.');
  return { endpoint: endpoint.replace(/\/+$/, ''), ratio, serviceName: name, headers };
}

/** Headers as https://opentelemetry.io/docs/specs/otel/protocol/exporter/ writes them in a variable. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([\w-]+)\s*=\s*(\S.*?)\s*$/.exec(pair) ?? [];
      if (!name || !value) throw new Error('OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value.');
      return [name, decodeURIComponent(value)];
    }),
  );
}

/** Values of a span. They never hold content of requests or answers. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Kinds of spans, with their numbers in the SDK. */
const KINDS = { INTERNAL: 0, SERVER: 1, CLIENT: 2 } as const;
type SpanKind = keyof typeof KINDS;

/** https://opentelemetry.io/docs/specs/otel/trace/api/#set-status: the number of the status Error. */
const STATUS_ERROR = 2;

/** The part of the SDK's spans that is used. */
interface SdkSpan {
  spanContext(): { traceId: string; spanId: string };
  setAttributes(attributes: SpanAttributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

/** The span, here or at a caller, below which a span begins; undefined for a new trace. */
type SpanParent = { traceId: string; spanId: string } | undefined;

/** The part of the SDK that is used. Every span that it starts is exported. */
interface TracingSdk {
  startSpan(name: string, options: { kind: number; attributes: SpanAttributes }, parent: SpanParent): SdkSpan;
  /** Sends what waits, and ends. */
  shutdown(): Promise<void>;
}

/** The parts of OpenTelemetry's packages that are used, with the types that they pass to each other. */
interface OpenTelemetry<Exporter, Processor, Resource, Context> {
  OTLPTraceExporter: new (options: { url: string; headers: Record<string, string> }) => Exporter;
  BatchSpanProcessor: new (options: { exporter: Exporter }) => Processor;
  TracerProvider: new (options: { resource: Resource; spanProcessors: Processor[] }) => {
    getTracer(name: string): {
      startSpan(name: string, options: { kind: number; attributes: SpanAttributes }, above: Context): SdkSpan;
    };
    shutdown(): Promise<void>;
  };
  resourceFromAttributes(attributes: Record<string, string>): Resource;
  ROOT_CONTEXT: Context;
  trace: {
    setSpanContext(context: Context, span: { traceId: string; spanId: string; traceFlags: number }): Context;
  };
}

/** The flag `sampled`. https://www.w3.org/TR/trace-context/#sampled-flag */
const SAMPLED = 1;

/** The SDK, which sends spans in batches. While the receiver is away, it drops what its queue cannot hold. */
function sdkOf<Exporter, Processor, Resource, Context>(
  otel: OpenTelemetry<Exporter, Processor, Resource, Context>,
  { endpoint, headers, serviceName }: TracingSettings,
  instance: string,
): TracingSdk {
  const exporter = new otel.OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers } });
  const provider = new otel.TracerProvider({
    resource: otel.resourceFromAttributes({ 'service.name': serviceName, 'service.instance.id': instance }),
    spanProcessors: [new otel.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('gateway');
  return {
    startSpan: (name, options, parent) => {
      if (!parent) return tracer.startSpan(name, options, otel.ROOT_CONTEXT);
      const above = otel.trace.setSpanContext(otel.ROOT_CONTEXT, { ...parent, traceFlags: SAMPLED });
      return tracer.startSpan(name, options, above);
    },
    shutdown: () => provider.shutdown(),
  };
}

/** Name, kind and first attributes of a span. */
interface SpanStart {
  name: string;
  kind: SpanKind;
  attributes: SpanAttributes;
}

/** One span. It must be ended once. */
export class Span {
  readonly #sdk: TracingSdk;
  readonly #span: SdkSpan;

  constructor(sdk: TracingSdk, { name, kind, attributes }: SpanStart, parent: SpanParent) {
    this.#sdk = sdk;
    this.#span = sdk.startSpan(name, { kind: KINDS[kind], attributes }, parent);
  }

  /** The header `traceparent` that makes this span the parent. https://www.w3.org/TR/trace-context/ */
  get traceparent(): string {
    const { traceId, spanId } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  /** Starts a span below this one. */
  child(start: SpanStart): Span {
    return new Span(this.#sdk, start, this.#span.spanContext());
  }

  /** Ends the span; with the code of a failure, as failed. */
  end(attributes: SpanAttributes, errorType?: string): void {
    this.#span.setAttributes(attributes);
    if (errorType !== undefined) {
      this.#span.setAttributes({ 'error.type': errorType });
      this.#span.setStatus({ code: STATUS_ERROR });
    }
    this.#span.end();
  }
}

/** Starts the traces of a process. */
export class Tracing {
  readonly #sdk: TracingSdk;
  readonly #ratio: number;
  readonly #random: () => number;

  constructor(sdk: TracingSdk, { ratio, random }: { ratio: number; random: () => number }) {
    this.#sdk = sdk;
    this.#ratio = ratio;
    this.#random = random;
  }

  /**
   * The first span of a request, in the trace of the caller if there is one; undefined for requests that are
   * not traced. The caller's wish to be sampled does not count, because callers are strangers.
   */
  begin(start: SpanStart, traceparent: string | string[] | undefined): Span | undefined {
    if (this.#random() >= this.#ratio) return undefined;
    return new Span(this.#sdk, start, parentOf(traceparent));
  }

  /** Sends the spans that wait, and ends. */
  close(): Promise<void> {
    return this.#sdk.shutdown();
  }
}

/** The program that is traced, and how it loads OpenTelemetry's packages. */
interface TracedProgram<Exporter, Processor, Resource, Context> {
  /** Name of the service in traces, unless OTEL_SERVICE_NAME is set. */
  service: string;
  instance: string;
  load: () => Promise<OpenTelemetry<Exporter, Processor, Resource, Context>>;
}

/** The traces; undefined, without `load`, if no endpoint is set. Throws an Error for a bad setting. */
export async function startTracing<Exporter, Processor, Resource, Context>(
  env: Readonly<Record<string, string | undefined>>,
  { service, instance, load }: TracedProgram<Exporter, Processor, Resource, Context>,
): Promise<Tracing | undefined> {
  const settings = readTracingSettings(env, service);
  if (!settings) return undefined;
  return new Tracing(sdkOf(await load(), settings, instance), { ratio: settings.ratio, random: Math.random });
}

/** The trace context of a header; undefined for an invalid one. */
function parentOf(header: string | string[] | undefined): SpanParent {
  const [, traceId = '', spanId = ''] =
    typeof header === 'string' ? (/^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header) ?? []) : [];
  const isValid = /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId);
  return isValid ? { traceId, spanId } : undefined;
}
