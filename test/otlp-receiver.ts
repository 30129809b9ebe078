/** A receiver of traces for tests, which keeps the spans that it gets in OTLP over HTTP. */
import { startUpstream } from './upstream.ts';

interface OtlpValue {
  stringValue?: string;
  intValue?: number | string;
}

/** A span as it was received. */
interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  isFailed: boolean;
}

interface OtlpSpan extends Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name' | 'kind'> {
  parentSpanId?: string;
  attributes: { key: string; value: OtlpValue }[];
  status?: { code?: number };
}

/** The receiver. */
export interface OtlpReceiver {
  endpoint: string;
  /** Every span so far, by start of their names. */
  spans(): ReceivedSpan[];
  /** The text of everything that was received, with the headers. */
  text(): string;
  close(): Promise<void>;
}

/** Starts a receiver on a free port. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const http = await startUpstream(() => ({
    headers: { 'content-type': 'application/json' },
    chunks: ['{}'],
  }));
  return {
    endpoint: http.origin,
    spans: () =>
      http.seen
        .flatMap(({ body }) => spansIn(body))
        .map((span) => ({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          name: span.name,
          kind: span.kind,
          attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, plain(value)])),
          isFailed: span.status?.code === 2,
        }))
        .toSorted((left, right) => left.name.localeCompare(right.name)),
    text: () => JSON.stringify(http.seen),
    close: () => http.close(),
  };
}

function spansIn(body: string): OtlpSpan[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function plain({ stringValue, intValue }: OtlpValue): unknown {
  return intValue === undefined ? stringValue : Number(intValue);
}
