/** A provider with its decrypted secrets, for test requests. Never log or store it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ProtocolName } from '@gateway/shared/catalog';
import { CLIENT_CERTIFICATE, NODE_IDENTITY_KINDS, bindingOf } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { CredentialRow, ProviderRow } from './upstream.entity.ts';
import { credentialReader, credentialsOf } from './upstream.service.ts';

/** How a provider is asked. */
export interface ProviderTarget {
  /** The format of probes: the first one. */
  protocol: ProtocolName;
  protocols: readonly ProtocolName[];
  baseUrl: string;
  /** Secret of the first usable credential; null for none. */
  secret: string | null;
  /** JSON of the client certificate for TLS; null for none. */
  certificate: string | null;
  access: UpstreamAccess | null;
  allowPrivate: boolean;
}

/** The target of a provider in its first format; undefined if it has no format. */
export async function targetOf(
  em: EntityManager,
  provider: ProviderRow,
  { secretKey }: { secretKey: string },
): Promise<ProviderTarget | undefined> {
  const [protocol] = provider.protocols;
  if (!protocol) return undefined;
  const usable = (await credentialsOf(em, provider.id)).filter((row) => row.enabled);
  const readSecret = credentialReader(secretKey);
  const secretOf = async (row: CredentialRow | undefined): Promise<string | null> =>
    (row && (await readSecret(em, row.id))) ?? null;
  const access = provider.access ?? null;
  return {
    protocol,
    protocols: provider.protocols,
    baseUrl: provider.baseUrl,
    secret: await secretOf(usable.find(({ binding }) => (binding ?? null) === bindingOf(access))),
    certificate: await secretOf(usable.findLast(({ binding }) => binding === CLIENT_CERTIFICATE)),
    access,
    allowPrivate: provider.allowPrivate || provider.demo,
  };
}

/** Whether the control plane can ask for a list of models: it cannot with the identity of a node. */
export function hasModelList(access: UpstreamAccess | null): boolean {
  return !access || !NODE_IDENTITY_KINDS.includes(access.auth);
}
