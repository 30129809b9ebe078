/** The complete configuration as the database has it, with names instead of ids. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { formatDollars, formatRatio } from '@gateway/shared/money';
import type { ModelLimitsRecord, TimeoutsRecord } from '@gateway/shared/records';
import { digestOf } from '@gateway/shared/secrets';
import { policyVersions } from '../accounts/policy.service.ts';
import { GroupRatioSchema, ModelSchema } from '../catalog/model.entity.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { personalSettings } from '../intelligence/personal.settings.ts';
import { apiKeyOf, paymentSettings } from '../payments/settings.service.ts';
import { serviceLimits } from '../service-limits/service-limits.ts';
import type { ServiceLimits } from '../service-limits/service-limits.ts';
import { storefront } from '../pools/storefront.service.ts';
import { CredentialSchema, ProviderSchema, RouteSchema } from '../upstreams/upstream.entity.ts';
import type { CredentialRow, ProviderRow, RouteRow } from '../upstreams/upstream.entity.ts';
import { secretOf } from '../upstreams/upstream.service.ts';
import type { ConfigurationDocument, ModelEntry, RouteEntry, UpstreamEntry } from './document.ts';

type Section<Name extends keyof ConfigurationDocument> = NonNullable<ConfigurationDocument[Name]>;

export type ModelItem = Required<Omit<ModelEntry, 'limits'>> & { limits: ModelLimitsRecord };
export type UpstreamItem = Required<Omit<UpstreamEntry, 'timeouts' | 'credentials'>> & {
  timeouts: TimeoutsRecord;
};
export type RouteItem = Required<RouteEntry>;
export type StorefrontItem = Required<Omit<Section<'storefront'>, 'pricesConfirmed'>> & {
  pricesConfirmed: boolean;
};
export type PersonalItem = Required<Section<'personalIntelligence'>>;
export type PaymentsItem = Required<Omit<Section<'payments'>, 'apiKey'>> & { keyDigest: string | null };

/** A stored secret of an upstream, as its digest. */
export interface CredentialItem {
  upstream: string;
  label: string;
  /** The only origin to which it is sent. */
  origin: string;
  /** SHA-256 of the secret; null if SECRET_KEY cannot open it. */
  digest: string | null;
  /** How the secret is used, if it is not sent in a header; see `bindingOf`. */
  binding: string | null;
}

/** A published version of the policy. */
export interface PolicyItem {
  version: string;
  markdown: string;
  changeSummary: string;
  effectiveAt: string;
  requireReacceptance: boolean;
}

/** An object with the id of its row. */
export interface Stored<Item> {
  id: string;
  item: Item;
}

/** The configuration. The demo's upstreams, with their credentials and routes, are no part of it. */
export interface State {
  groups: Record<Group, string>;
  models: Stored<ModelItem>[];
  upstreams: Stored<UpstreamItem>[];
  credentials: Stored<CredentialItem>[];
  routes: Stored<RouteItem>[];
  storefront: StorefrontItem;
  payments: PaymentsItem;
  personalIntelligence: PersonalItem;
  limits: ServiceLimits;
  /** Newest first. */
  policies: PolicyItem[];
}

/** Reads the configuration. `secretKey` opens stored secrets, of which only digests are kept. */
export async function readState(em: EntityManager, secretKey: string): Promise<State> {
  const models = await em.find(ModelSchema, {}, { orderBy: { position: 'asc', id: 'asc' } });
  const providers = await em.find(ProviderSchema, { demo: false }, { orderBy: { name: 'asc' } });
  const names: Names = {
    models: new Map(models.map(({ id, name }) => [id, name])),
    upstreams: new Map(providers.map(({ id, name }) => [id, name])),
  };
  const ofThese = { providerId: { $in: [...names.upstreams.keys()] } };
  // By label, because a replaced credential has a new id.
  const credentials = await em.find(CredentialSchema, ofThese, { orderBy: { label: 'asc', id: 'asc' } });
  const routes = await em.find(RouteSchema, ofThese, { orderBy: { id: 'asc' } });
  const ratios = await em.find(GroupRatioSchema, {});
  return {
    groups: Object.fromEntries(
      ratios.map(({ name, ratio }) => [name, formatRatio(ratio)]),
    ) as State['groups'],
    models: models.map((row) => ({ id: row.id, item: modelItem(row, names) })),
    upstreams: providers.map((row) => ({ id: row.id, item: upstreamItem(row) })),
    credentials: credentials.map((row) => ({ id: row.id, item: credentialItem(row, names, secretKey) })),
    routes: routes
      .map((row) => ({ id: row.id, item: routeItem(row, names) }))
      .toSorted((one, other) => (routeName(one.item) < routeName(other.item) ? -1 : 1)),
    storefront: await readStorefront(em, names),
    payments: await readPayments(em, secretKey),
    personalIntelligence: await readPersonal(em, names),
    limits: await serviceLimits(em),
    policies: await readPolicies(em),
  };
}

/** The name of a route in messages, by which files identify it. */
export function routeName({ model, upstream, upstreamModel }: RouteEntry): string {
  return `${model} → ${upstream} (${upstreamModel})`;
}

/** The origin of a base address. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

interface Names {
  models: ReadonlyMap<string, string>;
  upstreams: ReadonlyMap<string, string>;
}

function modelItem(row: ModelRow, { models }: Names): ModelItem {
  const { name, displayName, description, tier, traits, contextTokens, groups, families, limits } = row;
  const { passUnknown, storesState, stateRetentionDays, routing, hedged, state } = row;
  return {
    ...{ name, displayName, description, tier, traits, contextTokens, price: formatDollars(row.price) },
    ...{ groups, families, limits, passUnknown, storesState, stateRetentionDays, routing, hedged, state },
    retiresAt: row.retiresAt?.toISOString() ?? null,
    replacement: (row.replacementId && models.get(row.replacementId)) || null,
    note: row.deprecationNote ?? null,
  };
}

function upstreamItem(row: ProviderRow): UpstreamItem {
  const { name, protocols, baseUrl, enabled, timeouts, quirks } = row;
  const { concurrencyLimit = null, probeMinutes = null, access = null } = row;
  return { name, protocols, baseUrl, enabled, timeouts, concurrencyLimit, probeMinutes, quirks, access };
}

function credentialItem(row: CredentialRow, { upstreams }: Names, secretKey: string): CredentialItem {
  const { label, origin } = row;
  const upstream = upstreams.get(row.providerId) ?? '';
  const binding = row.binding ?? null;
  return { upstream, label, origin, digest: digestIf(() => secretOf(row, secretKey)), binding };
}

function routeItem(row: RouteRow, { models, upstreams }: Names): RouteItem {
  const { upstreamModel, families, priority, weight, enabled, quirks } = row;
  return {
    model: models.get(row.modelId) ?? '',
    upstream: upstreams.get(row.providerId) ?? '',
    ...{ upstreamModel, families, priority, weight },
    cost: typeof row.cost === 'bigint' ? formatDollars(row.cost) : null,
    ...{ enabled, quirks },
  };
}

async function readStorefront(em: EntityManager, { models }: Names): Promise<StorefrontItem> {
  const row = await storefront(em);
  const { state, message = null, rpmCap, requestsFree, pricesConfirmedAt, offeredModelIds = null } = row;
  return {
    ...{ state, message, rpmCap, poolRequestsFree: requestsFree },
    basePrice: formatDollars(row.basePrice),
    extraModelPrice: formatDollars(row.extraModelPrice),
    giftCredit: formatDollars(row.giftCredit),
    offeredModels: offeredModelIds?.flatMap((id) => models.get(id) ?? []) ?? null,
    pricesConfirmed: Boolean(pricesConfirmedAt),
  };
}

async function readPayments(em: EntityManager, secretKey: string): Promise<PaymentsItem> {
  const row = await paymentSettings(em);
  const { cardEnabled, apiAddress, managedPayments, automaticTax, stablecoins, taxCode = null } = row;
  return {
    ...{ cardEnabled, apiAddress, managedPayments, automaticTax, stablecoins, taxCode },
    amountMin: formatDollars(row.amountMin),
    amountMax: formatDollars(row.amountMax),
    dailyMax: formatDollars(row.dailyMax),
    presets: row.presets.map(formatDollars),
    keyDigest: digestIf(() => apiKeyOf(row, secretKey)),
  };
}

async function readPersonal(em: EntityManager, { upstreams }: Names): Promise<PersonalItem> {
  const { modelName, monthlyBudget, providerIds } = await personalSettings(em);
  const known = providerIds?.flatMap((id) => upstreams.get(id) ?? []) ?? null;
  return { model: modelName, monthlyBudget: formatDollars(monthlyBudget), upstreams: known };
}

async function readPolicies(em: EntityManager): Promise<PolicyItem[]> {
  const rows = await policyVersions(em);
  return rows.map(({ version, markdown, changeSummary, effectiveAt, requiresAcceptance }) => ({
    ...{ version, markdown, changeSummary: changeSummary ?? '' },
    effectiveAt: effectiveAt.toISOString(),
    requireReacceptance: requiresAcceptance,
  }));
}

/** A secret that SECRET_KEY cannot open counts as another one, so that the file replaces it. */
function digestIf(open: () => string | null): string | null {
  try {
    const secret = open();
    return secret === null ? null : digestOf(secret);
  } catch {
    return null;
  }
}
