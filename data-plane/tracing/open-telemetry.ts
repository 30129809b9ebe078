/** The OpenTelemetry SDK. This module is loaded only if an endpoint for traces is set. */
import { ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracingSdk, TracingSettings } from '@gateway/shared/tracing';

/** The SDK, which sends spans in batches. While the receiver is away, it drops what its queue cannot hold. */
export function openTelemetry(settings: TracingSettings, instance: string): TracingSdk {
  const { endpoint, headers } = settings;
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { ...headers } });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.instance.id': instance,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('gateway');
  return {
    startSpan: (name, options, parent) => {
      if (!parent) return tracer.startSpan(name, options, ROOT_CONTEXT);
      const above = { ...parent, traceFlags: TraceFlags.SAMPLED };
      return tracer.startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, above));
    },
    shutdown: () => provider.shutdown(),
  };
}
