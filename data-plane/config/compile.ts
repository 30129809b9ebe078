/** Compiles configuration tables into immutable look-ups for requests, with unsealed credentials. */
import type { KeyObject } from 'node:crypto';
import { canServe } from '@gateway/shared/catalog';
import type { Family } from '@gateway/shared/catalog';
import type {
  AccountRecord,
  KeyRecord,
  ModelRecord,
  PoolRecord,
  ProviderRecord,
  SettingsRecord,
} from '@gateway/shared/records';
import { unseal } from '@gateway/shared/sealing';
import { CredentialCompiler } from './compile-credentials.ts';
import type { CompiledRoute, Config, KeyStop, StoppedBy } from './config.ts';
import type { KeyTable } from './key-table.ts';
import type { PersistentMap } from './persistent-map.ts';
import { RecordIndex, problemsOf, recordOf, recordsOf } from './record-index.ts';
import { SealedIds } from '../state/sealed-ids.ts';
import { tableOf } from './tables.ts';
import type { Tables } from './tables.ts';

/** Receives the parts of a configuration that this node cannot read. */
export interface CompilerReports {
  /** Called once for each credential that becomes unreadable. */
  onUnreadable(credentialId: string): void;
  /** Called once for each record of an upstream or route that this release cannot read. */
  onSkipped(problem: string): void;
}

/**
 * Compiles tables into configurations. It reuses look-ups and credentials of the last configuration, so that
 * a change of one of 100,000 keys costs only that key.
 */
export class Compiler {
  readonly #privateKey: KeyObject;
  /** The key of the ids of stored objects, and its sealed form. */
  #stateKey: { sealed: string; ids: SealedIds | undefined } | undefined;
  readonly #credentials: CredentialCompiler;
  readonly #models = new RecordIndex('MODEL', (model) => model.name);
  readonly #pools = new RecordIndex('POOL', (pool) => pool.subdomain);
  readonly #poolIds = new RecordIndex('POOL', (pool) => pool.id);
  readonly #accounts = new RecordIndex('ACCOUNT', (account) => account.walletId);

  #problems: ReadonlyMap<string, string> = new Map();
  readonly #reports: Partial<CompilerReports>;

  constructor(privateKey: KeyObject, reports: Partial<CompilerReports> = {}) {
    this.#privateKey = privateKey;
    this.#reports = reports;
    this.#credentials = new CredentialCompiler(privateKey, (id) => reports.onUnreadable?.(id));
  }

  /** How many records of upstreams and routes this release cannot read. They are not used. */
  get skipped(): number {
    return this.#problems.size;
  }

  /** How many credentials of the last configuration cannot be read. They are not used. */
  get unreadable(): number {
    return this.#credentials.unreadable;
  }

  /**
   * Compiles the tables; `confirmedAt` is in ms of the control plane's clock. A credential that cannot be
   * read is left out, so that it does not hold up changes of keys. Throws if the settings are missing: such
   * tables must not be used.
   */
  compile(tables: Tables, confirmedAt: number): Config {
    const settings = recordsOf(tables, 'SETTINGS').next().value;
    if (!settings) throw new Error('the configuration has no settings');
    return new CompiledConfig({
      revision: tables.revision,
      confirmedAt,
      settings,
      sealedIds: this.#sealedIds(settings),
      // Compiling routes can throw, so it comes first: the look-ups must not be newer than the configuration.
      routes: this.#routes(tables),
      keys: tables.keys,
      models: this.#models.of(tables),
      pools: this.#pools.of(tables),
      poolIds: this.#poolIds.of(tables),
      accounts: this.#accounts.of(tables),
    });
  }

  /** Undefined if there is no key, or if this node cannot read it: stored objects are then refused. */
  #sealedIds({ id, stateKey }: SettingsRecord): SealedIds | undefined {
    if (stateKey === null) return undefined;
    if (this.#stateKey?.sealed !== stateKey)
      this.#stateKey = { sealed: stateKey, ids: this.#unsealStateKey(stateKey, id) };
    return this.#stateKey.ids;
  }

  #unsealStateKey(sealed: string, context: string): SealedIds | undefined {
    try {
      return new SealedIds(Buffer.from(unseal(sealed, this.#privateKey, context), 'base64url'));
    } catch {
      return undefined;
    }
  }

  #routes(tables: Tables): ReadonlyMap<string, readonly CompiledRoute[]> {
    this.#reportProblems(problemsOf(tables));
    const providers = indexed<ProviderRecord>(recordsOf(tables, 'PROVIDER'), (provider) => provider.id);
    const choices = choicesOf(tables);
    const { credentials, certificates } = this.#credentials.compile(tables);
    const byModel = new Map<string, CompiledRoute[]>();
    for (const route of recordsOf(tables, 'ROUTE')) {
      const provider = providers.get(route.providerId);
      // Providers that are switched off or cannot be read are not among them; their routes are skipped.
      if (!provider) continue;
      // Without its credentials, the upstream would get requests without authentication.
      if (credentials.get(provider.id)?.length === 0) continue;
      const routes = byModel.get(route.modelId) ?? [];
      const choice = choices.get(route.modelId);
      routes.push({
        route,
        provider,
        credentials: credentials.get(provider.id) ?? [],
        certificate: certificates.get(provider.id),
        ...choice,
      });
      byModel.set(route.modelId, routes);
    }
    for (const routes of byModel.values())
      routes.sort((one, other) => one.route.priority - other.route.priority);
    return byModel;
  }

  #reportProblems(problems: ReadonlyMap<string, string>): void {
    for (const [place, problem] of problems)
      if (!this.#problems.has(place)) this.#reports.onSkipped?.(problem);
    this.#problems = problems;
  }
}

/** How routes are chosen, by model, without the models whose routes have fixed shares. */
function choicesOf(tables: Tables): ReadonlyMap<string, Pick<CompiledRoute, 'policy' | 'isHedged'>> {
  const choices = new Map<string, Pick<CompiledRoute, 'policy' | 'isHedged'>>();
  for (const { id, routing = 'FIXED', hedged = false } of recordsOf(tables, 'MODEL'))
    if (routing !== 'FIXED' || hedged)
      choices.set(id, { policy: routing === 'FIXED' ? undefined : routing, isHedged: hedged });
  return choices;
}

interface Lookups {
  revision: number;
  confirmedAt: number;
  settings: SettingsRecord;
  sealedIds: SealedIds | undefined;
  keys: KeyTable;
  models: PersistentMap<ModelRecord>;
  pools: PersistentMap<PoolRecord>;
  poolIds: PersistentMap<PoolRecord>;
  accounts: PersistentMap<AccountRecord>;
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
  get sealedIds(): SealedIds | undefined {
    return this.#lookups.sealedIds;
  }

  /** The same configuration, confirmed at a later time. */
  confirmed(confirmedAt: number): CompiledConfig {
    return new CompiledConfig({ ...this.#lookups, confirmedAt });
  }

  keyByDigest(digest: string): KeyRecord | undefined {
    const { keys } = this.#lookups;
    const key = keys.byDigest(digest);
    if (key) return key;
    const rotated = keys.byPreviousDigest(digest);
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

/** Reasons of keys that their owner disabled. */
const OWNERS_REASONS: ReadonlySet<string | null | undefined> = new Set(['OWNER', 'LEAKED', 'REVOKED']);

/**
 * Ids of the keys that became unusable with the new tables, because they were removed or disabled or their
 * account was suspended, and who did it: the operator, unless the records name the owner. Keys that lost only
 * a secret are included with its digest. Expiry of keys and secrets before `now` (ms of the wall clock) is
 * not included; the request path checks it.
 */
export function keysStopped(before: Tables, after: Tables, now: number): Map<string, KeyStop> {
  const stopped = new Map<string, KeyStop>();
  for (const { before: old, after: present } of after.keys.changedSince(before.keys)) {
    const stop = old?.enabled ? stopOf(old, present, now) : undefined;
    if (old && stop) stopped.set(old.id, stop);
  }
  const suspended = new Map<string, StoppedBy>();
  for (const change of tableOf(after, 'ACCOUNT').since(tableOf(before, 'ACCOUNT'))) {
    const old = change.before && recordOf(change.before, 'ACCOUNT');
    const present = change.after && recordOf(change.after, 'ACCOUNT');
    if (present?.suspended && !old?.suspended)
      suspended.set(present.walletId, present.closed ? 'OWNER' : 'OPERATOR');
  }
  if (suspended.size === 0) return stopped;
  for (const key of before.keys.ofWallets(suspended)) {
    const by = key.enabled ? suspended.get(key.walletId) : undefined;
    const known = stopped.get(key.id);
    if (by && (!known || known.secrets)) stopped.set(key.id, { by });
  }
  return stopped;
}

/** How an enabled key stopped; undefined if it and its secrets still work. */
function stopOf(old: KeyRecord, present: KeyRecord | undefined, now: number): KeyStop | undefined {
  if (!present?.enabled) return { by: OWNERS_REASONS.has(present?.disabledReason) ? 'OWNER' : 'OPERATOR' };
  const working = secretsOf(present, now);
  const secrets = secretsOf(old, now).filter((digest) => !working.includes(digest));
  // Only owners rotate keys and end grace periods.
  return secrets.length > 0 ? { by: 'OWNER', secrets } : undefined;
}

/** Digests of the secrets of a key that work at `now`. */
function secretsOf({ digest, previousDigest, previousUntil }: KeyRecord, now: number): string[] {
  return previousDigest !== null && (previousUntil ?? 0) > now ? [digest, previousDigest] : [digest];
}

function indexed<Each>(records: Iterable<Each>, keyOf: (record: Each) => string): ReadonlyMap<string, Each> {
  const index = new Map<string, Each>();
  for (const record of records) index.set(keyOf(record), record);
  return index;
}
