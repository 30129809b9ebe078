/**
 * Creates, changes and deletes providers and their credentials, and publishes each change to nodes in the
 * same transaction.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CLIENT_CERTIFICATE, bindingOf } from '@gateway/shared/clouds/access';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../database/config-log.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction } from '../database/sql.ts';
import { endDemoMoney } from '../payments/play.settings.ts';
import { checkFits, checkedAccess, storedCertificate, storedSecret } from './access.rules.ts';
import { checkBaseUrl } from './address-guard.ts';
import { checkLabel, checkProvider, summaryOf, timeoutsOf } from './provider.rules.ts';
import { checkQuirks } from './quirk.rules.ts';
import type { ProviderInput } from './provider.rules.ts';
import { CredentialSchema, ProviderSchema, RouteSchema } from './upstream.entity.ts';
import type { CredentialRow, ProviderRow } from './upstream.entity.ts';
import { credentialRecord, providerRecord, routeRecord } from './upstream.record.ts';
import { decryptSecret, encryptSecret } from './stored-secrets.ts';
import type { SecretLocation } from './stored-secrets.ts';

/** Maximum number of credentials of one provider. */
const CREDENTIALS_MAX = 50;

/** The actor of a change, and the settings that apply. */
export interface Change {
  actor: Actor;
  settings: { secretKey: string; allowPrivateUpstreams: boolean };
  /**
   * Instead of `checkBaseUrl`, for a transaction with many changes, which must not wait for name servers. The
   * hosts of an access then count as checked.
   */
  checkAddress?: typeof checkBaseUrl;
}

/** All providers, by name, at most 1000. */
export function findProviders(em: EntityManager): Promise<ProviderRow[]> {
  return em.find(ProviderSchema, {}, { orderBy: { name: 'asc' }, limit: 1000 });
}

/** The providers with these ids, in any order. */
export function providersById(em: EntityManager, ids: readonly string[]): Promise<ProviderRow[]> {
  return em.find(ProviderSchema, { id: { $in: [...ids] } });
}

/** A provider's credentials with encrypted secrets, oldest first. */
export function credentialsOf(em: EntityManager, providerId: string): Promise<CredentialRow[]> {
  return em.find(CredentialSchema, { providerId }, { orderBy: { id: 'asc' } });
}

/**
 * Creates or changes a provider. Credentials are bound to the origin for which they were added: if the origin
 * of the provider changes, they are disabled, so that no secret is sent to another host. Throws INVALID,
 * TAKEN, NOT_FOUND, STALE_VERSION.
 */
export async function upsertProvider(
  em: EntityManager,
  input: ProviderInput,
  change: Change,
): Promise<ProviderRow> {
  const { allowPrivateUpstreams: allowPrivate } = change.settings;
  const baseUrl = await (change.checkAddress ?? checkBaseUrl)(input.baseUrl, allowPrivate);
  checkProvider(input);
  const surroundings = { protocols: input.protocols, baseUrl };
  const hosts = { ...surroundings, allowPrivate: allowPrivate || change.checkAddress !== undefined };
  const access = input.access === undefined ? undefined : await checkedAccess(input.access, hosts);
  return inTransaction(em, async (inner) => {
    const found = input.id ? await lockProvider(inner, input.id, input.version) : null;
    if (access === undefined && found?.access) checkFits(found.access, surroundings);
    const named = await inner.findOne(ProviderSchema, { name: input.name.trim() });
    if (named && named.id !== found?.id)
      throw new UserFailure('TAKEN', 'Another provider has this name. Choose another one.', 'name');
    const before = found ? summaryOf(found) : null;
    const values = {
      name: input.name.trim(),
      protocols: [...new Set(input.protocols)],
      baseUrl,
      enabled: input.enabled,
      allowPrivate,
      timeouts: timeoutsOf(input.timeouts, found?.timeouts),
      concurrencyLimit: input.concurrencyLimit ?? null,
      ...(access === undefined ? {} : { access }),
      ...(input.quirks ? { quirks: checkQuirks(input.quirks) } : {}),
    };
    const provider = found ?? inner.create(ProviderSchema, { id: newId('prv'), ...values });
    if (found) inner.assign(found, values);
    await inner.flush();
    await audit(inner, {
      actor: change.actor,
      action: found ? 'provider.update' : 'provider.create',
      targetType: 'UpstreamProvider',
      targetId: provider.id,
      before,
      after: summaryOf(provider),
      reason: input.reason,
    });
    await announceProvider(inner, provider);
    return provider;
  });
}

/** Deletes a provider with its credentials and routes. The demo ends with its last one. Throws NOT_FOUND. */
export async function deleteProvider(
  em: EntityManager,
  input: { id: string; reason: string },
  change: Change,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const provider = await lockProvider(inner, input.id, 'ANY');
    await audit(inner, {
      actor: change.actor,
      action: 'provider.delete',
      targetType: 'UpstreamProvider',
      targetId: provider.id,
      before: summaryOf(provider),
      reason: input.reason,
    });
    await removeProviders(inner, [provider]);
    const isLast = provider.demo && (await inner.count(ProviderSchema, { demo: true })) === 0;
    if (isLast) await endDemoMoney(inner, "The demo ended with the demo's last provider");
  });
}

/** A credential to add. */
export interface CredentialInput {
  providerId: string;
  label: string;
  secret: string;
  /** A client certificate in PEM, whose private key is the secret. */
  certificate?: string | null;
  reason: string;
}

/**
 * Stores a credential encrypted. Its secret is never shown again; only nodes and probes use it. Throws
 * INVALID, LIMIT_REACHED, NOT_FOUND.
 */
export async function addCredential(
  em: EntityManager,
  input: CredentialInput,
  change: Change,
): Promise<ProviderRow> {
  checkLabel(input.label, 'label');
  return inTransaction(em, async (inner) => {
    const provider = await lockProvider(inner, input.providerId, 'ANY');
    if ((await inner.count(CredentialSchema, { providerId: provider.id })) >= CREDENTIALS_MAX)
      throw new UserFailure('LIMIT_REACHED', `Delete one of the ${CREDENTIALS_MAX} credentials first.`);
    const id = newId('crd');
    const { secret, suffix, binding } = input.certificate
      ? storedCertificate(input.certificate.trim(), input.secret.trim())
      : storedSecret(provider.access ?? null, input.secret.trim());
    const credential = inner.create(CredentialSchema, {
      id,
      providerId: provider.id,
      label: input.label.trim(),
      suffix,
      binding,
      sealed: encryptSecret(change.settings.secretKey, secret, locationOf(id)),
      origin: new URL(provider.baseUrl).origin,
    });
    await inner.flush();
    await audit(inner, {
      actor: change.actor,
      action: 'credential.add',
      targetType: 'UpstreamProvider',
      targetId: provider.id,
      after: { credential: id, label: credential.label, suffix: credential.suffix },
      reason: input.reason,
    });
    await announceProvider(inner, provider);
    return provider;
  });
}

/** Deletes a credential. Throws NOT_FOUND. */
export async function removeCredential(
  em: EntityManager,
  input: { id: string; reason: string },
  change: Change,
): Promise<ProviderRow> {
  return inTransaction(em, async (inner) => {
    const credential = await inner.findOne(CredentialSchema, { id: input.id });
    if (!credential) throw new UserFailure('NOT_FOUND', 'Unknown credential. Reload the page.', 'id');
    const provider = await lockProvider(inner, credential.providerId, 'ANY');
    inner.remove(credential);
    await inner.flush();
    await audit(inner, {
      actor: change.actor,
      action: 'credential.remove',
      targetType: 'UpstreamProvider',
      targetId: provider.id,
      before: { credential: credential.id, label: credential.label, suffix: credential.suffix },
      reason: input.reason,
    });
    await announce(inner, { remove: [{ kind: 'CREDENTIAL', id: credential.id }] });
    return provider;
  });
}

/**
 * Returns a function that decrypts the secret of a credential, for nodes and probes. Its result is undefined
 * if the credential is deleted or disabled.
 */
export function credentialReader(
  secretKey: string,
): (em: EntityManager, id: string) => Promise<string | undefined> {
  return async (em, id) => {
    const credential = await em.findOne(CredentialSchema, { id, enabled: true });
    return credential ? secretOf(credential, secretKey) : undefined;
  };
}

/** The secret of a credential. Throws if SECRET_KEY is not the one that sealed it. */
export function secretOf({ id, sealed }: CredentialRow, secretKey: string): string {
  return decryptSecret(secretKey, sealed, locationOf(id));
}

/** Deletes providers with their credentials and routes, and publishes that to nodes. */
export async function removeProviders(em: EntityManager, providers: readonly ProviderRow[]): Promise<void> {
  const providerId = { $in: providers.map((provider) => provider.id) };
  const routes = await em.find(RouteSchema, { providerId });
  const credentials = await em.find(CredentialSchema, { providerId });
  for (const row of [...routes, ...credentials, ...providers]) em.remove(row);
  await em.flush();
  await announce(em, {
    remove: [
      ...routes.map(({ id }) => ({ kind: 'ROUTE' as const, id })),
      ...credentials.map(({ id }) => ({ kind: 'CREDENTIAL' as const, id })),
      ...providers.map(({ id }) => ({ kind: 'PROVIDER' as const, id })),
    ],
  });
}

/**
 * Publishes an enabled provider with its credentials and routes to nodes, or removes a disabled one from
 * them.
 */
async function announceProvider(em: EntityManager, provider: ProviderRow): Promise<void> {
  const { id: providerId } = provider;
  const origin = new URL(provider.baseUrl).origin;
  const routes = await em.find(RouteSchema, { providerId });
  const credentials = await credentialsOf(em, providerId);
  const bindings = [bindingOf(provider.access ?? null), CLIENT_CERTIFICATE];
  for (const credential of credentials)
    credential.enabled = credential.origin === origin && bindings.includes(credential.binding ?? null);
  await em.flush();
  const isLive = (row: { enabled: boolean }): boolean => provider.enabled && row.enabled;
  await announce(em, {
    upsert: [
      ...(provider.enabled ? [providerRecord(provider)] : []),
      ...credentials.filter(isLive).map(credentialRecord),
      ...routes.filter(isLive).map(routeRecord),
    ],
    remove: [
      ...(provider.enabled ? [] : [{ kind: 'PROVIDER' as const, id: providerId }]),
      ...credentials.filter((row) => !isLive(row)).map(({ id }) => ({ kind: 'CREDENTIAL' as const, id })),
      ...routes.filter((row) => !isLive(row)).map(({ id }) => ({ kind: 'ROUTE' as const, id })),
    ],
  });
}

/**
 * The provider, locked for a change. `version` must be the current one, so that no other change is
 * overwritten; `ANY` is for changes that do not depend on earlier values. Throws NOT_FOUND, STALE_VERSION.
 */
export async function lockProvider(
  em: EntityManager,
  id: string,
  version: number | 'ANY' | null | undefined,
): Promise<ProviderRow> {
  const provider = await em.findOne(ProviderSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!provider) throw new UserFailure('NOT_FOUND', 'Unknown provider. Reload the page.', 'id');
  if (version === 'ANY' || provider.version === version) return provider;
  throw new UserFailure(
    'STALE_VERSION',
    'The provider was changed meanwhile. Reload it, then repeat your change.',
    'version',
  );
}

/** The values of a provider that the audit log records. */
function locationOf(id: string): SecretLocation {
  return { table: 'credential', id, field: 'secret' };
}
