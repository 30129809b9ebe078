import { generateKeyPairSync } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CredentialRecord } from '@gateway/shared/records';
import { credentialContext, exportPublicKey, unseal } from '@gateway/shared/sealing';
import { account, FeedNode } from '../../test/feed-node.ts';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { announce, latestRevision } from '../database/config-log.ts';
import type { ConfigChanges } from '../database/config-log.ts';
import { query, sql } from '../database/sql.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import { recallLeases } from '../wallet/lease.recall.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { ConfigFeed } from './config-feed.ts';
import { CHUNK_ENTRIES_MAX } from './config-state.ts';
import { createNode } from './node.service.ts';
import { registerNode } from './registration.service.ts';
import { pruneTombstones } from './tombstones.ts';

const keys = generateKeyPairSync('x25519');

const credential = (id: string): CredentialRecord => ({
  kind: 'CREDENTIAL',
  id,
  providerId: 'prv_one',
  origin: 'https://upstream.test',
  binding: null,
  sealed: '',
});

let money: Money;
let feed: ConfigFeed;
const troubles: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  const openCredential = async (_em: unknown, id: string): Promise<string | undefined> => {
    const location = { table: 'credential', id, field: 'secret' };
    if (id === 'crd_foreign')
      return decryptSecret('this key', encryptSecret('another key', 'secret', location), location);
    return id === 'crd_gone' ? undefined : `secret of ${id}`;
  };
  const onTrouble = (error: unknown) => void troubles.push(String(error));
  feed = await ConfigFeed.start({ orm: money.orm, databaseUrl: money.url, openCredential, onTrouble });
});
afterAll(async () => {
  await feed.stop();
  await money.close();
});

function change(changes: ConfigChanges): Promise<number> {
  return money.em().transactional((em) => announce(em, changes));
}

async function registered(name: string): Promise<{ nodeId: string; journalId: string }> {
  const { node } = await createNode(money.em(), name);
  const journalId = `jnl_${name}`;
  await registerNode(money.em(), node.id, {
    version: '1',
    region: null,
    publicKey: exportPublicKey(keys.publicKey),
    journalId,
  });
  return { nodeId: node.id, journalId };
}

describe('the configuration feed', () => {
  it('sends compressed entries to a node that reads them, with credentials sealed beside them', async () => {
    const { nodeId } = await registered('packed');
    const revision = await change({ upsert: [account('packed'), credential('crd_packed')] });
    const node = new FeedNode(feed.follow(nodeId, null, true));
    await node.reach(revision);
    expect(node.ownChecksum).toBe(node.checksum);
    const sealed = node.entries.get('CREDENTIAL crd_packed')?.payload as CredentialRecord;
    expect(unseal(sealed.sealed, keys.privateKey, credentialContext(sealed))).toBe('secret of crd_packed');
    expect(node.packedParts).toBeGreaterThan(0);
  });

  it('reads a log of many rows in parts, and then sends a snapshot', async () => {
    const { nodeId } = await registered('many');
    const node = new FeedNode(feed.follow(nodeId, null, true));
    await node.reach(await latestRevision(money.em()));
    const many = Array.from({ length: CHUNK_ENTRIES_MAX * 2 + 100 }, (_, at) => account(`many ${at}`));
    const revision = await change({ upsert: many });
    await node.reach(revision);
    expect(node.ownChecksum).toBe(node.checksum);
    const late = new FeedNode(feed.follow(nodeId, null, true));
    await late.reach(revision);
    expect(late.ownChecksum).toBe(node.checksum);
    await change({ remove: many.map(({ id }) => ({ kind: 'ACCOUNT', id })) });
  });

  it('sends no heartbeat with a revision whose changes the node has not received', async () => {
    const { nodeId } = await registered('patient');
    const node = new FeedNode(feed.follow(nodeId, null));
    await node.reach(await latestRevision(money.em()));
    const revision = await change({ upsert: [account('later')] });
    await expect.poll(() => feed.revision).toBe(revision);
    await node.reach(revision);
    expect([...node.entries.keys()]).toContain('ACCOUNT later');
    await node.stream.return?.();
  });

  it('sends a snapshot, then every change as a delta, with matching checksums', async () => {
    const { nodeId } = await registered('follower');
    await change({ upsert: [account('one'), account('two')] });
    const node = new FeedNode(feed.follow(nodeId, null));
    await node.reach(feed.revision);
    await change({ upsert: [account('three')] });
    const revision = await change({ remove: [{ kind: 'ACCOUNT', id: 'one' }] });
    await node.reach(revision);
    expect([...node.entries.keys()]).toContain('ACCOUNT three');
    expect([...node.entries.keys()]).not.toContain('ACCOUNT one');
    expect(node.ownChecksum).toBe(node.checksum);
    expect(node.checksum).toBe(feed.checksum);
    await node.stream.return?.();
  });

  it('sends no change of a transaction that rolls back, and one revision per commit', async () => {
    const before = await latestRevision(money.em());
    await expect(
      money.em().transactional(async (em) => {
        await announce(em, { upsert: [account('ghost')] });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await latestRevision(money.em())).toBe(before);
    const revisions = await Promise.all(
      Array.from({ length: 8 }, (_, at) => change({ upsert: [account(`p${at}`)] })),
    );
    expect([...revisions].sort((one, other) => one - other)).toEqual(
      revisions.map((_, at) => before + 1 + at),
    );
    const { nodeId } = await registered('late');
    const node = new FeedNode(feed.follow(nodeId, null));
    await node.reach(before + 8);
    expect([...node.entries.keys()]).not.toContain('ACCOUNT ghost');
    expect(node.ownChecksum).toBe(node.checksum);
    await node.stream.return?.();
  });

  it('resumes from a revision, and answers REVISION_GAP once tombstones are deleted', async () => {
    const { nodeId } = await registered('resumer');
    const from = await change({ upsert: [account('gone'), account('stays')] });
    const to = await change({ remove: [{ kind: 'ACCOUNT', id: 'gone' }] });
    const resumed = feed.follow(nodeId, from);
    expect((await resumed.next()).value).toMatchObject({
      __typename: 'ConfigDelta',
      fromRevision: from,
      revision: to,
      upserts: [],
      removals: [{ kind: 'ACCOUNT', key: 'gone' }],
    });
    await resumed.return?.();
    expect(await pruneTombstones(money.em(), 0)).toBeGreaterThan(0);
    await change({ upsert: [account('stays')] });
    await expect(feed.follow(nodeId, from).next()).rejects.toMatchObject({
      extensions: { code: 'REVISION_GAP' },
    });
    await expect(feed.follow(nodeId, 1_000_000).next()).rejects.toMatchObject({
      extensions: { code: 'REVISION_GAP' },
    });
  });

  it('seals credentials for the node when it sends them; the log has no secret', async () => {
    const credential: CredentialRecord = {
      kind: 'CREDENTIAL',
      id: 'crd_1',
      providerId: 'prv_1',
      origin: 'https://api.example.com',
      binding: null,
      sealed: '',
    };
    const revision = await change({ upsert: [credential] });
    const { nodeId } = await registered('sealed');
    const node = new FeedNode(feed.follow(nodeId, null));
    await node.reach(revision);
    const payload = node.entries.get('CREDENTIAL crd_1')?.payload as CredentialRecord;
    expect(unseal(payload.sealed, keys.privateKey, 'crd_1')).toBe('secret of crd_1');
    const rows = await query<{ text: string }>(
      money.em(),
      sql`select config_log::text as text from config_log`,
    );
    expect(rows.filter((row) => row.text.includes('secret of'))).toEqual([]);
    await node.stream.return?.();
  });

  it('sends an unreadable credential without a secret, and the changes after it', async () => {
    const { nodeId } = await registered('unreadable');
    const node = new FeedNode(feed.follow(nodeId, null));
    await node.reach(feed.revision);
    const foreign: CredentialRecord = {
      kind: 'CREDENTIAL',
      id: 'crd_foreign',
      providerId: 'prv_1',
      origin: 'https://api.example.com',
      binding: null,
      sealed: '',
    };
    await change({ upsert: [foreign] });
    const revision = await change({ upsert: [account('after')] });
    await node.reach(revision);
    expect([...node.entries.keys()]).toContain('ACCOUNT after');
    const payload = node.entries.get('CREDENTIAL crd_foreign')?.payload as CredentialRecord;
    expect(unseal(payload.sealed, keys.privateKey, 'crd_foreign')).toBe('');
    expect(troubles.join()).toContain('Credential crd_foreign cannot be decrypted with SECRET_KEY.');
    await change({ remove: [{ kind: 'CREDENTIAL', id: 'crd_foreign' }] });
    await node.stream.return?.();
  });

  it('refuses a node that has not registered a public key', async () => {
    const { node } = await createNode(money.em(), 'unregistered');
    await expect(feed.follow(node.id, null).next()).rejects.toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  it('ends the earlier stream when a node opens another', async () => {
    const { nodeId } = await registered('twice');
    const first = new FeedNode(feed.follow(nodeId, null));
    await first.reach(feed.revision);
    const second = new FeedNode(feed.follow(nodeId, null));
    await second.reach(feed.revision);
    await expect(first.until(() => false)).rejects.toThrow('The stream ended.');
    await second.stream.return?.();
  });

  it('sends a recall to the node with the lease, also if the node connects later', async () => {
    const holder = await registered('holder');
    const other = await registered('other');
    const { walletId } = await money.wallet({ cash: 100n });
    const request = { walletId, keyId: null, requestNo: 1, need: 100n, want: 100n, waiting: 0n };
    const lease = await requestLease(money.em(), { ...request, ...holder });
    const node = new FeedNode(feed.follow(holder.nodeId, null));
    await node.reach(feed.revision);
    await expect(requestLease(money.em(), { ...request, ...other })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await node.until(() => node.recalls.includes(lease.id));
    await node.stream.return?.();
    const again = new FeedNode(feed.follow(holder.nodeId, null));
    await again.until(() => again.recalls.includes(lease.id));
    await again.stream.return?.();
  });

  it('sends a recall whose notification was lost, without a reconnect of the node', async () => {
    const holder = await registered('unnotified');
    const { walletId } = await money.wallet({ cash: 100n });
    const request = { walletId, keyId: null, requestNo: 1, need: 100n, want: 100n, waiting: 0n };
    const lease = await requestLease(money.em(), { ...request, ...holder });
    const node = new FeedNode(feed.follow(holder.nodeId, null));
    await node.reach(feed.revision);
    // Only the superuser sees the queries of other connections.
    const superuser = new Client({ connectionString: money.url });
    await superuser.connect();
    const cut = await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where query ilike 'listen %' and datname = current_database()`,
    );
    await superuser.end();
    expect(cut.rowCount).toBe(1);
    await recallLeases(money.em(), walletId);
    await node.until(() => node.recalls.includes(lease.id));
    await node.stream.return?.();
  });

  it('repeats all open recalls until the leases are returned, also more than its queue holds', async () => {
    const holder = await registered('forgetful');
    const { walletId } = await money.wallet({ cash: 1n });
    // Inserted without notifications, and more than the queue of a stream holds.
    await query(
      money.em(),
      sql`
      insert into wallet_lease
        (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift, recalled_at)
      select 'lse_' || no, ${walletId}, ${holder.nodeId}, ${holder.journalId}, no, 1, 0, clock_timestamp()
      from generate_series(101, 400) as no`,
    );
    const leases = Array.from({ length: 300 }, (_, at) => `lse_${101 + at}`);
    const hasAll = (node: FeedNode): boolean => leases.every((id) => node.recalls.includes(id));
    const node = new FeedNode(feed.follow(holder.nodeId, null));
    await node.until(() => hasAll(node));
    node.recalls.length = 0;
    await node.until(() => hasAll(node));
    await query(
      money.em(),
      sql`update wallet_lease set state = 'CLOSED' where wallet_id = ${walletId} and id <> 'lse_250'`,
    );
    // Recalls that were queued before the update may still arrive.
    await node.until(() => node.recalls.slice(-2).every((id) => id === 'lse_250'));
    node.recalls.length = 0;
    await node.until(() => node.recalls.length >= 2);
    expect(new Set(node.recalls)).toEqual(new Set(['lse_250']));
    await node.stream.return?.();
  });

  it('sends no recalls of leases on a journal that the node lost', async () => {
    const holder = await registered('bereft');
    const { walletId } = await money.wallet({ cash: 100n });
    const request = { walletId, keyId: null, need: 50n, want: 50n, waiting: 0n };
    const lost = await requestLease(money.em(), { ...request, ...holder, requestNo: 1 });
    const journalId = 'jnl_bereft_2';
    await query(
      money.em(),
      sql`update data_plane_node set last_seen_at = last_seen_at - interval '1 minute'
        where id = ${holder.nodeId}`,
    );
    await registerNode(money.em(), holder.nodeId, {
      ...{ version: '1', region: null, publicKey: exportPublicKey(keys.publicKey), journalId },
    });
    const kept = await requestLease(money.em(), { ...request, ...holder, journalId, requestNo: 1 });
    // Without a notification, so that only the repeated recalls are tested.
    await query(
      money.em(),
      sql`update wallet_lease set recalled_at = clock_timestamp() where wallet_id = ${walletId}`,
    );
    const node = new FeedNode(feed.follow(holder.nodeId, null));
    await node.until(() => node.recalls.length >= 2);
    expect(node.recalls).not.toContain(lost.id);
    expect(node.recalls).toContain(kept.id);
    await node.stream.return?.();
  });
});

describe('registerNode', () => {
  it('refuses the journal of another node', async () => {
    const { journalId } = await registered('owner');
    const { node } = await createNode(money.em(), 'thief');
    await expect(
      registerNode(money.em(), node.id, {
        version: '1',
        region: null,
        publicKey: exportPublicKey(keys.publicKey),
        journalId,
      }),
    ).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('refuses a public key that is not X25519', async () => {
    const { node } = await createNode(money.em(), 'keyless');
    const wrong = exportPublicKey(generateKeyPairSync('ed25519').publicKey);
    for (const publicKey of ['', 'AAAA', wrong]) {
      await expect(
        registerNode(money.em(), node.id, { version: '1', region: null, publicKey, journalId: 'jnl_k' }),
      ).rejects.toMatchObject({ code: 'INVALID' });
    }
  });
});
