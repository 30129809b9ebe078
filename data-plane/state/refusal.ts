/** An upstream's refusal that is about an object that the request names. */
import type { GatewayError } from '@gateway/shared/failures';
import type { UpstreamDialect } from '../dialects/dialect.ts';

interface NamedObjects {
  dialect: UpstreamDialect;
  /** The ids of the upstream and those of the client. */
  names: ReadonlyMap<string, string>;
  /** The failure if the object does not exist. */
  missing: GatewayError;
  /** Whether the request is about nothing but the object. */
  isOnlyAboutIt: boolean;
}

/** Google names no id. It answers 403 if there is no such object. https://ai.google.dev/api/caching */
const CACHED_CONTENT = /cached_?content/i;

/**
 * The failure for the client: "not found" for a missing object, and an error about the request with the
 * client's ids in place of the upstream's. Undefined for every other refusal.
 */
export function refusalOf(
  { status, body }: { status: number; body: string },
  { dialect, names, missing, isOnlyAboutIt }: NamedObjects,
): GatewayError | undefined {
  const isNamed = CACHED_CONTENT.test(body) || [...names.keys()].some((id) => body.includes(id));
  if (status === 404 && (isOnlyAboutIt || isNamed)) return missing;
  if (status === 403 && isNamed) return missing;
  if (status !== 400 && status !== 422) return undefined;
  let own = body;
  for (const [upstream, client] of names)
    own = own.replaceAll(upstream, client.slice(client.indexOf('/') + 1));
  return own === body ? undefined : dialect.outbound.decodeError(status, own);
}
