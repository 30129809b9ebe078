/**
 * Creates the demo at the first start: simulated upstreams for every model, credit and a key of the
 * administrator, and payments with play money.
 */
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { ProtocolName, Family } from '@gateway/shared/catalog';
import { MICROS_PER_DOLLAR } from '@gateway/shared/money';
import { digestOf } from '@gateway/shared/secrets';
import { firstAdminId, userById } from '../accounts/account.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import { announce } from '../database/config-log.ts';
import { SYSTEM_ACTOR, type Viewer } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { KeySchema } from '../keys/key.entity.ts';
import { createKey, revealKey } from '../keys/key.service.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { DEMO_CREDIT, endDemoMoney, preparePlayMoney } from '../payments/play.settings.ts';
import type { PlayProcessor } from '../payments/play.settings.ts';
import { ProviderSchema, type ProviderRow, RouteSchema } from '../upstreams/upstream.entity.ts';
import { providerRecord, routeRecord } from '../upstreams/upstream.record.ts';
import { creditGift } from '../wallet/movements.ts';
import { walletIdOf } from '../wallet/wallet.service.ts';
import { readSecret, writeSecret } from './data-folder.ts';
import type { BootstrapResult } from './messages.ts';

/** Gift credit, which cannot be refunded or spent on pools. The first real route removes the rest. */
const CREDIT = 25n * MICROS_PER_DOLLAR;
const TIMEOUTS = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 60_000,
  idleMs: 90_000,
  totalMs: 600_000,
};

/** One provider of the demo. There are two, because the wire formats use two version paths. */
interface Part {
  name: string;
  path: string;
  protocols: ProtocolName[];
  /**
   * Whether the provider serves the family. The gateway emulates `compact`, which the demo does not support.
   */
  serves: (family: Family) => boolean;
}
const PARTS: Part[] = [
  {
    name: 'Demo',
    path: '/v1',
    protocols: ['openai-chat', 'openai-responses', 'anthropic-messages'],
    serves: (family) => family !== 'generative_language' && family !== 'compact',
  },
  {
    name: 'Demo (generative language)',
    path: '/v1beta',
    protocols: ['google-generate'],
    serves: (family) => family === 'generative_language',
  },
];

interface DemoOptions {
  /** Address of the demo upstream, e.g. `http://127.0.0.1:40123`. */
  upstreamUrl: string;
  /** Whether the first start may create the demo. */
  allowed: boolean;
  /** File with the secret of the demo's key. */
  keyFile: string;
  /** The demo's card processor; undefined: no play money is offered. */
  processor?: PlayProcessor | undefined;
  /** The key that seals stored secrets. */
  secretKey: string;
}

/**
 * Decides once per database whether there is a demo (if it is allowed and no upstream exists), and creates
 * it. Returns whether the demo still serves, with its key if that is enabled, and whether play money is
 * offered. The first real route ends the demo.
 */
export async function prepareDemo(orm: MikroORM, options: DemoOptions): Promise<BootstrapResult> {
  await inTransaction(orm.em.fork(), (em) => decide(em, options));
  return inTransaction(orm.em.fork(), async (em) => {
    const providers = await em.find(ProviderSchema, { demo: true });
    if (providers.length === 0) {
      await endDemoMoney(em, 'The demo ended: it has no provider');
      return { demo: false };
    }
    await updateAddress(em, providers, options.upstreamUrl);
    const key = readSecret(options.keyFile);
    const isEnabled = key && (await em.count(KeySchema, { digest: digestOf(key), state: 'ENABLED' })) > 0;
    const { processor } = options;
    const playMoney = processor ? await preparePlayMoney(em, processor, options) : false;
    return { demo: true, ...(isEnabled && { demoKey: key }), ...(playMoney && { playMoney }) };
  });
}

async function decide(em: EntityManager, options: DemoOptions): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('demo', 0))`);
  if (await queryOne(em, sql`select from installation where name = 'demo'`)) return;
  const wanted = options.allowed && (await em.count(ProviderSchema)) === 0;
  await query(em, sql`insert into installation (name, value) values ('demo', ${wanted ? 'on' : 'off'})`);
  if (wanted) await makeDemo(em, options);
}

async function makeDemo(em: EntityManager, { upstreamUrl, keyFile }: DemoOptions): Promise<void> {
  const admin = await userById(em, await firstAdminId(em));
  const { id, email, role, allowedGroups } = admin;
  const owner: Viewer = { id, email, role, allowedGroups, session: null, token: null };
  await creditGift(em, {
    walletId: await walletIdOf(em, id),
    amount: CREDIT,
    kind: 'GIFT_ADMIN',
    reference: DEMO_CREDIT,
    actor: SYSTEM_ACTOR,
    description: 'Credit for trying the demo',
  });
  const { key } = await createKey(em, owner, { name: 'Demo', group: 'default', idempotencyKey: 'demo' });
  const { secret } = await revealKey(em, id, key.id);
  // Written before the commit: a key without its secret would be useless, a secret without its key is
  // harmless.
  writeSecret(keyFile, secret);
  for (const part of PARTS) await makeUpstream(em, part, upstreamUrl);
}

async function makeUpstream(em: EntityManager, part: Part, upstreamUrl: string): Promise<void> {
  const provider = em.create(ProviderSchema, {
    id: newId('prv'),
    name: part.name,
    protocols: part.protocols,
    baseUrl: `${upstreamUrl}${part.path}`,
    enabled: true,
    timeouts: TIMEOUTS,
    demo: true,
  });
  // The ORM has no relation between provider and routes, so the provider is written first.
  await em.flush();
  const models = await em.find(ModelSchema, { state: 'PUBLISHED' });
  const routes = models.map((model) =>
    em.create(RouteSchema, {
      id: newId('rte'),
      modelId: model.id,
      providerId: provider.id,
      upstreamModel: model.name,
      families: model.families.filter(part.serves),
      priority: 100,
      weight: 1,
      enabled: true,
    }),
  );
  await em.flush();
  await announce(em, { upsert: [providerRecord(provider), ...routes.map((route) => routeRecord(route))] });
}

/** Stores and announces the present address of the demo upstream, whose port may change between starts. */
async function updateAddress(
  em: EntityManager,
  providers: ProviderRow[],
  upstreamUrl: string,
): Promise<void> {
  const moved = providers.filter((provider) => !provider.baseUrl.startsWith(`${upstreamUrl}/`));
  for (const provider of moved) provider.baseUrl = `${upstreamUrl}${new URL(provider.baseUrl).pathname}`;
  if (moved.length === 0) return;
  await em.flush();
  await announce(em, { upsert: moved.map((provider) => providerRecord(provider)) });
}
