/** Wallets with credit and nodes on a fresh database, for tests of the ledger. */
import { randomUUID } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../control-plane/graphql/context.ts';
import { newId } from '../control-plane/database/ids.ts';
import { createOrm } from '../control-plane/database/orm.ts';
import { query, sql } from '../control-plane/database/sql.ts';
import type { ReportedUsage } from '../control-plane/usage/settlement.rules.ts';
import { creditCash, creditGift } from '../control-plane/wallet/movements.ts';
import { ensureWallet } from '../control-plane/wallet/wallet.service.ts';
import { createTestDatabase } from './database.ts';

/** A migrated test database. */
export interface Money {
  orm: MikroORM;
  em(): EntityManager;
  url: string;
  /** Creates a user with a wallet that holds these amounts in micro-USD. */
  wallet(holds: { cash?: bigint; gift?: bigint }): Promise<{ userId: string; walletId: string }>;
  /** Creates a node that runs on a journal of its own. */
  node(): Promise<{ nodeId: string; journalId: string }>;
  close(): Promise<void>;
}

/** Creates and migrates a database. Close it with `close`. */
export async function openMoney(): Promise<Money> {
  const database = await createTestDatabase();
  const orm = await createOrm(database.url);
  const em = (): EntityManager => orm.em.fork();
  return {
    orm,
    em,
    url: database.url,
    wallet: async ({ cash = 0n, gift = 0n }) => {
      const userId = newId('usr');
      await query(
        em(),
        sql`insert into users (id, email) values (${userId}, ${`${userId.toLowerCase()}@example.com`})`,
      );
      const walletId = await ensureWallet(em(), userId);
      const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test' };
      if (cash > 0n)
        await creditCash(em(), {
          ...movement,
          amount: cash,
          kind: 'ADJUSTMENT',
          reference: `cash:${walletId}`,
        });
      if (gift > 0n)
        await creditGift(em(), {
          ...movement,
          amount: gift,
          kind: 'GIFT_ADMIN',
          reference: `gift:${walletId}`,
        });
      return { userId, walletId };
    },
    node: async () => {
      const node = { nodeId: newId('nod'), journalId: `jnl_${randomUUID()}` };
      await addNode(em(), node);
      return node;
    },
    close: async () => {
      await orm.close(true);
      await database.drop();
    },
  };
}

/** Adds a node that runs on this journal. */
export async function addNode(
  em: EntityManager,
  { nodeId, journalId }: { nodeId: string; journalId: string },
): Promise<void> {
  await query(
    em,
    sql`insert into data_plane_node (id, name, token_digest) values (${nodeId}, ${nodeId}, ${nodeId})`,
  );
  await addJournal(em, nodeId, journalId);
  await setCurrentJournal(em, nodeId, journalId);
}

/** Adds a journal to the node. */
export async function addJournal(em: EntityManager, nodeId: string, journalId: string): Promise<void> {
  await query(em, sql`insert into node_journal (id, node_id) values (${journalId}, ${nodeId})`);
}

/** Makes this journal the current one of the node. */
export async function setCurrentJournal(em: EntityManager, nodeId: string, journalId: string): Promise<void> {
  await query(em, sql`update data_plane_node set journal_id = ${journalId} where id = ${nodeId}`);
}

/** The usage record of a successful request that cost `cost` micro-USD. */
export function reported(
  charge: Pick<ReportedUsage, 'journalId' | 'seq' | 'leaseId' | 'walletId' | 'cost'> & Partial<ReportedUsage>,
): ReportedUsage {
  return {
    requestId: `req_${randomUUID()}`,
    at: new Date(),
    keyId: 'key_test',
    poolId: null,
    group: 'default',
    source: 'API_KEY',
    modelName: 'swift',
    family: 'chat_completions',
    routeId: null,
    basePrice: charge.cost,
    ratio: '1',
    inputTokens: 3,
    outputTokens: 5,
    cachedTokens: null,
    reasoningTokens: null,
    status: 'SUCCEEDED',
    outcome: 'DELIVERED',
    httpStatus: 200,
    errorCode: null,
    streamed: true,
    latencyMs: 12,
    ttftMs: 4,
    ip: '192.0.2.7',
    lossesInAnswer: 0,
    ...charge,
  };
}
