/** Secrets in events of the configuration: readable for the node that gets them, and for nobody else. */
import { generateKeyPairSync } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SettingsRecord } from '@gateway/shared/records';
import { exportPublicKey, unseal } from '@gateway/shared/sealing';
import { createTestDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { createOrm } from '../database/orm.ts';
import { stateKeyReader } from '../secret-key/state-key.ts';
import { UnreadableSecret } from '../upstreams/stored-secrets.ts';
import { eventFor } from './sealed-events.ts';
import type { FeedEvent } from './sealed-events.ts';

const SECRET_KEY = 'a secret key of at least thirty-two bytes';
const SETTINGS: SettingsRecord = {
  kind: 'SETTINGS',
  id: 'settings',
  publicUrl: 'http://gateway.test',
  consoleUrl: 'http://console.test',
  poolRequestsFree: true,
  playgroundKey: null,
  stateKey: null,
  nodeIds: [],
};
const EVENT: FeedEvent = {
  __typename: 'ConfigDelta',
  fromRevision: 1,
  revision: 2,
  checksum: '',
  upserts: [{ kind: 'SETTINGS', key: 'settings', revision: 2, payload: SETTINGS }],
  removals: [],
};

let database: TestDatabase;
let orm: MikroORM;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await createOrm(database.url, { connectionsMax: 4 });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
const em = () => orm.em.fork();

/** The settings that a node with this public key receives. */
async function settingsFor(
  publicKey: string,
  secretKey: string,
  onTrouble?: (error: unknown) => void,
): Promise<SettingsRecord> {
  const readers = { em, openStateKey: stateKeyReader(secretKey), openCredential: async () => '', onTrouble };
  const event = await eventFor({ publicKey, isPacked: true }, EVENT, readers);
  const [entry] = event.__typename === 'ConfigDelta' ? event.upserts : [];
  if (entry?.payload.kind !== 'SETTINGS') throw new Error('no settings');
  return entry.payload;
}

describe('the key of the ids of stored objects', () => {
  it('is made once, and each node gets the same one, sealed for that node', async () => {
    const nodes = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
    const sealed = await Promise.all(
      nodes.map(({ publicKey }) => settingsFor(exportPublicKey(publicKey), SECRET_KEY)),
    );
    const keys = sealed.map(({ stateKey }, index) => {
      const { privateKey } = nodes[index] ?? {};
      return privateKey && unseal(stateKey ?? '', privateKey, 'settings');
    });
    expect(Buffer.from(keys[0] ?? '', 'base64url')).toHaveLength(32);
    expect(keys[1]).toBe(keys[0]);
    expect(JSON.stringify(sealed)).not.toContain(keys[0]);
    const [first] = nodes;
    expect(() => first && unseal(sealed[1]?.stateKey ?? '', first.privateKey, 'settings')).toThrow();
  });

  it('is left out and reported if it cannot be decrypted, and the settings still arrive', async () => {
    const { publicKey } = generateKeyPairSync('x25519');
    const troubles: unknown[] = [];
    const other = 'another secret key of thirty-two bytes';
    const settings = await settingsFor(exportPublicKey(publicKey), other, (error) => troubles.push(error));
    expect(settings).toEqual(SETTINGS);
    expect(troubles).toEqual([
      expect.objectContaining({ message: expect.stringContaining('Stored objects are refused') }),
    ]);
    await expect(stateKeyReader(other)(em())).rejects.toThrow(UnreadableSecret);
  });
});
