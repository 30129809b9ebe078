/** Where the secrets of endpoints are stored. */
import type { SecretLocation } from '../upstreams/stored-secrets.ts';

/** The location to which a sealed secret of the endpoint is bound. */
export function secretLocation(id: string, field: 'sealed_secret' | 'previous_sealed'): SecretLocation {
  return { table: 'webhook_endpoint', id, field };
}
