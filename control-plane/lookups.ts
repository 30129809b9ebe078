/** Lookups by many keys at once, with which GraphQL fields resolve references; see database/batches.ts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { canServe } from '@gateway/shared/catalog';
import type { ChatRoute } from '@gateway/shared/chat-parameters';
import { PolicyVersionSchema, UserSchema } from './accounts/account.entity.ts';
import type { PolicyVersionRow, UserRow } from './accounts/account.entity.ts';
import { groupRatios, modelsById } from './catalog/catalog.service.ts';
import { ModelSchema } from './catalog/model.entity.ts';
import type { GroupRatioRow, ModelRow } from './catalog/model.entity.ts';
import { query, sql } from './database/sql.ts';
import { KeySchema } from './keys/key.entity.ts';
import type { KeyRow } from './keys/key.entity.ts';
import { CredentialSchema, RouteSchema } from './upstreams/upstream.entity.ts';
import type { CredentialRow, ProviderRow, RouteRow } from './upstreams/upstream.entity.ts';
import { providersById } from './upstreams/upstream.service.ts';

type Found<Row> = Promise<ReadonlyMap<string, Row>>;

/** Users by id. */
export async function usersById(em: EntityManager, ids: readonly string[]): Found<UserRow> {
  return byId(await em.find(UserSchema, { id: { $in: [...ids] } }));
}

/** The owner of each wallet, by wallet id. */
export async function ownersOfWallets(em: EntityManager, walletIds: readonly string[]): Found<UserRow> {
  const wallets = await query<{ id: string; user_id: string }>(
    em,
    sql`select id, user_id from wallet where id = any(${[...walletIds]}::text[])`,
  );
  const users = await usersById(
    em,
    wallets.map(({ user_id: userId }) => userId),
  );
  return new Map(
    wallets.flatMap(({ id, user_id: userId }) => {
      const user = users.get(userId);
      return user ? [[id, user] as const] : [];
    }),
  );
}

/** Versions of the privacy policy by id. */
export async function policiesById(em: EntityManager, ids: readonly string[]): Found<PolicyVersionRow> {
  return byId(await em.find(PolicyVersionSchema, { id: { $in: [...ids] } }));
}

/** Models by id. */
export async function modelsByIds(em: EntityManager, ids: readonly string[]): Found<ModelRow> {
  return byId(await modelsById(em, ids));
}

/** Models by name. */
export async function modelsByNames(em: EntityManager, names: readonly string[]): Found<ModelRow> {
  const models = await em.find(ModelSchema, { name: { $in: [...names] } });
  return new Map(models.map((model) => [model.name, model]));
}

/** All group ratios, as the value of every key. */
export async function ratiosForAll(em: EntityManager, keys: readonly string[]): Found<GroupRatioRow[]> {
  const ratios = await groupRatios(em);
  return new Map(keys.map((key) => [key, ratios]));
}

/** API keys by id, of any owner; the caller checks access. */
export async function keysById(em: EntityManager, ids: readonly string[]): Found<KeyRow> {
  return byId(await em.find(KeySchema, { id: { $in: [...ids] } }));
}

/** The subdomain of each pool, of any owner, by pool id; the caller checks access. */
export async function subdomainsOfPools(em: EntityManager, ids: readonly string[]): Found<string> {
  const pools = await query<{ id: string; subdomain: string }>(
    em,
    sql`select id, subdomain from pools where id = any(${[...ids]}::text[])`,
  );
  return new Map(pools.map(({ id, subdomain }) => [id, subdomain]));
}

/** Providers by id. */
export async function providersByIds(em: EntityManager, ids: readonly string[]): Found<ProviderRow> {
  return byId(await providersById(em, ids));
}

/** Routes by id. */
export async function routesById(em: EntityManager, ids: readonly string[]): Found<RouteRow> {
  return byId(await em.find(RouteSchema, { id: { $in: [...ids] } }));
}

/** The routes of each provider, sorted by model and priority. */
export async function routesOfProviders(em: EntityManager, ids: readonly string[]): Found<RouteRow[]> {
  const orderBy = { modelId: 'asc', priority: 'asc', id: 'asc' } as const;
  const routes = await em.find(RouteSchema, { providerId: { $in: [...ids] } }, { orderBy });
  return groupedFor(ids, routes, (route) => route.providerId);
}

/** The routes of each model, sorted by priority. */
export async function routesOfModels(em: EntityManager, ids: readonly string[]): Found<RouteRow[]> {
  const orderBy = { priority: 'asc', id: 'asc' } as const;
  const routes = await em.find(RouteSchema, { modelId: { $in: [...ids] } }, { orderBy });
  return groupedFor(ids, routes, (route) => route.modelId);
}

/** The enabled routes of each model that serve chats, with the quirks of upstream and route. */
export async function chatRoutesOfModels(em: EntityManager, ids: readonly string[]): Found<ChatRoute[]> {
  const routes = await em.find(RouteSchema, { modelId: { $in: [...ids] }, enabled: true });
  const providers = await providersByIds(em, [...new Set(routes.map((route) => route.providerId))]);
  const serving = routes.flatMap(({ modelId, providerId, families, quirks }) => {
    const provider = providers.get(providerId);
    const offer = { families, protocols: provider?.protocols ?? [] };
    if (!provider?.enabled || !canServe('chat_completions', offer)) return [];
    return [{ modelId, protocols: offer.protocols, quirks: [...provider.quirks, ...quirks] }];
  });
  return groupedFor(ids, serving, (route) => route.modelId);
}

/** The credentials of each provider, oldest first, with encrypted secrets. */
export async function credentialsOfProviders(
  em: EntityManager,
  ids: readonly string[],
): Found<CredentialRow[]> {
  const found = await em.find(
    CredentialSchema,
    { providerId: { $in: [...ids] } },
    { orderBy: { id: 'asc' } },
  );
  return groupedFor(ids, found, (credential) => credential.providerId);
}

function byId<Row extends { id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function groupedFor<Row>(
  ids: readonly string[],
  rows: readonly Row[],
  ownerOf: (row: Row) => string,
): ReadonlyMap<string, Row[]> {
  const groups = Map.groupBy(rows, ownerOf);
  return new Map(ids.map((id) => [id, groups.get(id) ?? []]));
}
