/** OpenTelemetry's parts that traces need. This module is loaded only if an endpoint for traces is set. */
export { ROOT_CONTEXT, trace } from '@opentelemetry/api';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
export { resourceFromAttributes } from '@opentelemetry/resources';
export { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
