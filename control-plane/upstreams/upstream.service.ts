/**
 * Providers, their credentials and the routes to them: what administrators change, announced to the nodes at
 * once.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../config-log.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction } from '../sql.ts';
import { checkBaseUrl } from './address-guard.ts';
import { checkLabel, checkProvider, timeoutsOf } from './provider.rules.ts';
import type { ProviderInput } from './provider.rules.ts';
import { CredentialSchema, ProviderSchema, RouteSchema } from './upstream.entity.ts';
import type { CredentialRow, ProviderRow } from './upstream.entity.ts';
import { credentialRecord, providerRecord, routeRecord } from './upstream.record.ts';
import { lock, unlock } from './vault.ts';

const SECRET_LENGTH_MAX = 4096;
const CREDENTIALS_MAX = 50;
const SUFFIX_LENGTH = 4;
/** Shorter secrets would be given away by their last four characters. */
const SECRET_LENGTH_MIN = 12;
/** What the service needs of the settings. */
export interface UpstreamSettings {
  secretKey: string;
  allowPrivateUpstreams: boolean;
}

/** Who changes something, and under which settings. */
export interface Change {
  actor: Actor;
  settings: UpstreamSettings;
}

/** Every provider, by name. */
export function findProviders(em: EntityManager): Promise<ProviderRow[]> {
  return em.find(ProviderSchema, {}, { orderBy: { name: 'asc' }, limit: 1000 });
}

/** Providers by id, in no particular order. */
export function providersById(em: EntityManager, ids: readonly string[]): Promise<ProviderRow[]> {
  return em.find(ProviderSchema, { id: { $in: [...ids] } });
}

/** A provider's credentials, oldest first; never with a readable secret. */
export function credentialsOf(em: EntityManager, providerId: string): Promise<CredentialRow[]> {
  return em.find(CredentialSchema, { providerId }, { orderBy: { id: 'asc' } });
}

/**
 * Makes or changes a provider. Credentials are bound to the origin they were set for: a provider that moves
 * elsewhere
 * loses them, so that no secret is ever sent to another host. Throws INVALID, TAKEN, NOT_FOUND,
 * STALE_VERSION.
 */
export async function upsertProvider(
  em: EntityManager,
  input: ProviderInput,
  change: Change,
): Promise<ProviderRow> {
  const { allowPrivateUpstreams: allowPrivate } = change.settings;
  const baseUrl = await checkBaseUrl(input.baseUrl, allowPrivate);
  checkProvider(input);
  return inTransaction(em, async (inner) => {
    const found = input.id ? await lockProvider(inner, input.id, input.version) : null;
    const named = await inner.findOne(ProviderSchema, { name: input.name.trim() });
    if (named && named.id !== found?.id)
      throw new UserFailure('TAKEN', 'Another provider has this name.', 'name');
    const before = found ? summary(found) : null;
    const values = {
      name: input.name.trim(),
      protocols: [...new Set(input.protocols)],
      baseUrl,
      enabled: input.enabled,
      allowPrivate,
      timeouts: timeoutsOf(input.timeouts, found?.timeouts),
      concurrencyLimit: input.concurrencyLimit ?? null,
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
      after: summary(provider),
      reason: input.reason,
    });
    await announceProvider(inner, provider);
    return provider;
  });
}

/** Deletes a provider with its credentials and routes. Throws NOT_FOUND. */
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
      before: summary(provider),
      reason: input.reason,
    });
    await removeProviders(inner, [provider]);
  });
}

export interface CredentialInput {
  providerId: string;
  label: string;
  secret: string;
  reason: string;
}

/**
 * Stores a credential, readable by nobody any more but the nodes. Throws INVALID, LIMIT_REACHED, NOT_FOUND.
 */
export async function addCredential(
  em: EntityManager,
  input: CredentialInput,
  change: Change,
): Promise<ProviderRow> {
  const secret = input.secret.trim();
  if (secret.length < SECRET_LENGTH_MIN || secret.length > SECRET_LENGTH_MAX || /[^\x21-\x7e]/.test(secret)) {
    throw new UserFailure(
      'INVALID',
      `A secret has ${SECRET_LENGTH_MIN} to ${SECRET_LENGTH_MAX} printable characters.`,
      'secret',
    );
  }
  checkLabel(input.label, 'label');
  return inTransaction(em, async (inner) => {
    const provider = await lockProvider(inner, input.providerId, 'ANY');
    if ((await inner.count(CredentialSchema, { providerId: provider.id })) >= CREDENTIALS_MAX) {
      throw new UserFailure('LIMIT_REACHED', `A provider has at most ${CREDENTIALS_MAX} credentials.`);
    }
    const id = newId('crd');
    const credential = inner.create(CredentialSchema, {
      id,
      providerId: provider.id,
      label: input.label.trim(),
      suffix: secret.slice(-SUFFIX_LENGTH),
      sealed: lock(change.settings.secretKey, secret, placeOf(id)),
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
    if (!credential) throw new UserFailure('NOT_FOUND', 'There is no such credential.', 'id');
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
 * Reads a credential's secret, for sealing it to a node and for probes; undefined where it is gone or
 * disabled.
 */
export function credentialOpener(
  secretKey: string,
): (em: EntityManager, id: string) => Promise<string | undefined> {
  return async (em, id) => {
    const credential = await em.findOne(CredentialSchema, { id, enabled: true });
    return credential ? unlock(secretKey, credential.sealed, placeOf(id)) : undefined;
  };
}

/** Deletes providers with all that hangs on them, for nodes too. */
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

/** Tells the nodes all of an enabled provider, and takes all of a disabled one away from them. */
async function announceProvider(em: EntityManager, provider: ProviderRow): Promise<void> {
  const { id: providerId } = provider;
  const origin = new URL(provider.baseUrl).origin;
  const routes = await em.find(RouteSchema, { providerId });
  const credentials = await credentialsOf(em, providerId);
  for (const credential of credentials) credential.enabled = credential.origin === origin;
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

/** `ANY` is for changes that overwrite nothing; whoever read no version cannot know what is overwritten. */
async function lockProvider(
  em: EntityManager,
  id: string,
  version: number | 'ANY' | null | undefined,
): Promise<ProviderRow> {
  const provider = await em.findOne(ProviderSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!provider) throw new UserFailure('NOT_FOUND', 'There is no such provider.', 'id');
  if (version === 'ANY' || provider.version === version) return provider;
  throw new UserFailure(
    'STALE_VERSION',
    'The provider changed meanwhile. Read it again, then repeat the change.',
    'version',
  );
}

function summary(provider: ProviderRow): Record<string, unknown> {
  const { name, protocols, baseUrl, enabled, timeouts, concurrencyLimit } = provider;
  return { name, protocols, baseUrl, enabled, timeouts, concurrencyLimit: concurrencyLimit ?? null };
}

function placeOf(id: string): { table: string; id: string; field: string } {
  return { table: 'credential', id, field: 'secret' };
}
