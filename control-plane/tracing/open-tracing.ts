/** Opens the traces of this process. */
import { readTracingSettings, Tracing } from '@gateway/shared/tracing';

/** Name of the service in traces, unless OTEL_SERVICE_NAME is set. */
const SERVICE_NAME = 'gateway-control';

/** The traces; undefined, and no SDK is loaded, if no endpoint is set. Throws an Error for a bad setting. */
export async function openTracing(
  env: Readonly<Record<string, string | undefined>>,
  instance: string,
): Promise<Tracing | undefined> {
  const settings = readTracingSettings(env, SERVICE_NAME);
  if (!settings) return undefined;
  const { openTelemetry } = await import('./open-telemetry.ts');
  return new Tracing(openTelemetry(settings, instance), { ratio: settings.ratio, random: Math.random });
}
