/** Turns the tables of the configuration into what requests ask: immutable look-ups, credentials unsealed. */
import type { KeyObject } from 'node:crypto';
import { canServe } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type {
  AccountRecord,
  ConfigKind,
  ConfigRecord,
  CredentialRecord,
  KeyRecord,
  ModelRecord,
  PoolRecord,
  ProviderRecord,
  SettingsRecord,
} from '@gateway/shared/records';
import { unseal } from '@gateway/shared/sealing';
import type { CompiledCredential, CompiledRoute, Config } from './config.ts';
import type { EntryTable, Tables } from './tables.ts';

type RecordOf<Kind extends ConfigKind> = Extract<ConfigRecord, { kind: Kind }>;

/**
 * Compiles tables into configurations. It remembers the look-ups of the kinds that did not change since the
 * last time, so that disabling one key does not unseal every credential again.
 */
export class Compiler {
  readonly #privateKey: KeyObject;
  readonly #secrets = new WeakMap<ConfigEntry, CompiledCredential>();
  readonly #lookups = new WeakMap<EntryTable, unknown>();

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
  }

  /**
   * The configuration of the tables, confirmed at that time (ms of the wall clock).
   * Throws when the settings are missing or a credential does not open: then the tables may not be served.
   */
  compile(tables: Tables, confirmedAt: number): Config {
    const settings = recordsOf(tables, 'SETTINGS').next().value;
    if (!settings) throw new Error('the settings are missing');
    const keys = this.#lookup(tables, 'API_KEY', byDigest);
    const models = this.#lookup(tables, 'MODEL', (records) =>
      indexed<ModelRecord>(records, (model) => model.name),
    );
    const pools = this.#lookup(tables, 'POOL', (records) =>
      indexed<PoolRecord>(records, (pool) => pool.subdomain),
    );
    const poolIds = new Map([...pools.values()].map((pool) => [pool.id, pool]));
    const accounts = this.#lookup(tables, 'ACCOUNT', (records) =>
      indexed<AccountRecord>(records, (account) => account.walletId),
    );
    const routes = this.#routes(tables);
    return new CompiledConfig({
      revision: tables.revision,
      confirmedAt,
      settings,
      keys,
      models,
      pools,
      poolIds,
      accounts,
      routes,
    });
  }

  #routes(tables: Tables): ReadonlyMap<string, readonly CompiledRoute[]> {
    const providers = indexed<ProviderRecord>(recordsOf(tables, 'PROVIDER'), (provider) => provider.id);
    const credentials = this.#credentials(tables);
    const byModel = new Map<string, CompiledRoute[]>();
    for (const route of recordsOf(tables, 'ROUTE')) {
      const provider = providers.get(route.providerId);
      // A provider that was switched off is not told; its routes lead nowhere until it comes back.
      if (!provider) continue;
      const routes = byModel.get(route.modelId) ?? [];
      routes.push({ route, provider, credentials: credentials.get(provider.id) ?? [] });
      byModel.set(route.modelId, routes);
    }
    for (const routes of byModel.values())
      routes.sort((one, other) => one.route.priority - other.route.priority);
    return byModel;
  }

  #credentials(tables: Tables): ReadonlyMap<string, CompiledCredential[]> {
    const byProvider = new Map<string, CompiledCredential[]>();
    for (const entry of tables.byKind.get('CREDENTIAL')?.values() ?? []) {
      const record = entry.payload as CredentialRecord;
      const compiled = this.#secrets.get(entry) ?? this.#open(record);
      this.#secrets.set(entry, compiled);
      byProvider.set(record.providerId, [...(byProvider.get(record.providerId) ?? []), compiled]);
    }
    return byProvider;
  }

  #open(record: CredentialRecord): CompiledCredential {
    try {
      return {
        id: record.id,
        origin: record.origin,
        secret: unseal(record.sealed, this.#privateKey, record.id),
      };
    } catch (cause) {
      throw new Error(`credential ${record.id} does not open with this node's key`, { cause });
    }
  }

  #lookup<Kind extends ConfigKind, Lookup>(
    tables: Tables,
    kind: Kind,
    build: (records: Iterable<RecordOf<Kind>>) => Lookup,
  ): Lookup {
    const table = tables.byKind.get(kind);
    const known = table && (this.#lookups.get(table) as Lookup | undefined);
    const lookup = known ?? build(recordsOf(tables, kind));
    if (table) this.#lookups.set(table, lookup);
    return lookup;
  }
}

interface Lookups {
  revision: number;
  confirmedAt: number;
  settings: SettingsRecord;
  keys: KeyLookup;
  models: ReadonlyMap<string, ModelRecord>;
  pools: ReadonlyMap<string, PoolRecord>;
  poolIds: ReadonlyMap<string, PoolRecord>;
  accounts: ReadonlyMap<string, AccountRecord>;
  routes: ReadonlyMap<string, readonly CompiledRoute[]>;
}

class CompiledConfig implements Config {
  readonly #lookups: Lookups;

  constructor(lookups: Lookups) {
    this.#lookups = lookups;
  }

  get revision(): number {
    return this.#lookups.revision;
  }
  get confirmedAt(): number {
    return this.#lookups.confirmedAt;
  }
  get settings(): SettingsRecord {
    return this.#lookups.settings;
  }

  /** The same configuration, confirmed at a later time. */
  confirmed(confirmedAt: number): CompiledConfig {
    return new CompiledConfig({ ...this.#lookups, confirmedAt });
  }

  keyByDigest(digest: string): KeyRecord | undefined {
    const key = this.#lookups.keys.current.get(digest);
    if (key) return key;
    const rotated = this.#lookups.keys.previous.get(digest);
    return rotated && (rotated.previousUntil ?? 0) > Date.now() ? rotated : undefined;
  }

  modelByName(name: string): ModelRecord | undefined {
    return this.#lookups.models.get(name);
  }
  models(): Iterable<ModelRecord> {
    return this.#lookups.models.values();
  }

  routesFor(modelId: string, family: Family): readonly CompiledRoute[] {
    const routes = this.#lookups.routes.get(modelId) ?? [];
    return routes.filter(({ route: { families }, provider: { protocols } }) =>
      canServe(family, { families, protocols }),
    );
  }

  get hasPools(): boolean {
    return this.#lookups.pools.size > 0;
  }
  poolBySubdomain(subdomain: string): PoolRecord | undefined {
    return this.#lookups.pools.get(subdomain);
  }
  poolById(id: string): PoolRecord | undefined {
    return this.#lookups.poolIds.get(id);
  }
  accountByWallet(walletId: string): AccountRecord | undefined {
    return this.#lookups.accounts.get(walletId);
  }
}

/** The same configuration, confirmed by the control plane at that time (ms of the wall clock). */
export function confirmedConfig(config: Config, confirmedAt: number): Config {
  return config instanceof CompiledConfig ? config.confirmed(confirmedAt) : config;
}

/**
 * Ids of the keys that could be used before and cannot any more: gone, disabled, or of an account now
 * suspended. Running out of time is not seen here; the request path checks it.
 */
export function keysStopped(before: Tables, after: Tables): Set<string> {
  const stopped = new Set<string>();
  const keys = after.byKind.get('API_KEY');
  if (before.byKind.get('API_KEY') === keys && before.byKind.get('ACCOUNT') === after.byKind.get('ACCOUNT'))
    return stopped;
  const suspended = new Set(
    [...recordsOf(after, 'ACCOUNT')].filter((each) => each.suspended).map((each) => each.walletId),
  );
  for (const [id, entry] of before.byKind.get('API_KEY') ?? []) {
    const old = entry.payload as KeyRecord;
    const now = keys?.get(id)?.payload as KeyRecord | undefined;
    if (old.enabled && (!now?.enabled || suspended.has(now.walletId))) stopped.add(old.id);
  }
  return stopped;
}

interface KeyLookup {
  current: ReadonlyMap<string, KeyRecord>;
  previous: ReadonlyMap<string, KeyRecord>;
}

function byDigest(keys: Iterable<KeyRecord>): KeyLookup {
  const current = new Map<string, KeyRecord>();
  const previous = new Map<string, KeyRecord>();
  for (const key of keys) {
    current.set(key.digest, key);
    if (key.previousDigest !== null) previous.set(key.previousDigest, key);
  }
  return { current, previous };
}

function* recordsOf<Kind extends ConfigKind>(
  tables: Tables,
  kind: Kind,
): Generator<RecordOf<Kind>, undefined> {
  for (const entry of tables.byKind.get(kind)?.values() ?? []) yield entry.payload as RecordOf<Kind>;
  return undefined;
}

function indexed<Each>(records: Iterable<Each>, keyOf: (record: Each) => string): ReadonlyMap<string, Each> {
  const index = new Map<string, Each>();
  for (const record of records) index.set(keyOf(record), record);
  return index;
}
