/** The feed against a small control plane that speaks graphql-ws over a real socket. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { GraphQLError } from 'graphql';
import { afterEach, expect, test } from 'vitest';
import { ConfigChecksum } from '@gateway/shared/checksum';
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { ConfigRecord, KeyRecord } from '@gateway/shared/records';
import { RELEASE } from '@gateway/shared/release';
import { credentialContext, seal } from '@gateway/shared/sealing';
import { connectControl } from '../control/client.ts';
import { startPlane } from '../../test/config-plane.ts';
import type { Plane } from '../../test/config-plane.ts';
import { keyOf } from '../../test/ledger/records.ts';
import { Compiler } from './compile.ts';
import { ControlClock } from './control-clock.ts';
import { createFeed } from './feed.ts';
import type { Feed } from './feed.ts';
import { ConfigFile } from './file.ts';
import { loadNodeKeys } from './identity.ts';
import { createStore } from './store.ts';
import type { WritableStore } from './store.ts';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const SETTINGS: ConfigRecord = {
  kind: 'SETTINGS',
  id: 'settings',
  publicUrl: 'http://localhost:8080',
  consoleUrl: 'http://localhost:4000',
  poolRequestsFree: true,
  playgroundKey: null,
  stateKey: null,
  nodeIds: [],
};

function entry(payload: ConfigRecord, revision: number): ConfigEntry {
  return { kind: payload.kind, key: payload.id, revision, payload };
}

function checksumOf(entries: readonly ConfigEntry[]): string {
  const sum = new ConfigChecksum();
  for (const { kind, key, revision } of entries) sum.toggle(kind, key, revision);
  return sum.value;
}

function snapshot(revision: number, entries: ConfigEntry[], more: object = {}): ConfigEvent {
  return {
    __typename: 'ConfigSnapshot',
    revision,
    checksum: checksumOf(entries),
    chunk: 0,
    chunks: 1,
    entries,
    ...more,
  } as ConfigEvent;
}

function delta(
  fromRevision: number,
  revision: number,
  change: { upserts: ConfigEntry[]; all: ConfigEntry[] },
): ConfigEvent {
  const checksum = checksumOf(change.all);
  return {
    __typename: 'ConfigDelta',
    fromRevision,
    revision,
    checksum,
    upserts: change.upserts,
    removals: [],
  };
}

interface RunningFeed {
  plane: Plane;
  feed: Feed;
  store: WritableStore;
  compiler: Compiler;
  folder: string;
  recalls: string[];
  warnings: string[];
}

function startFeed(plane: Plane, folder = newFolder()): RunningFeed {
  const control = connectControl({ urls: [plane.url], token: 'gnt_test' });
  const store = createStore();
  const recalls: string[] = [];
  const warnings: string[] = [];
  const compiler = new Compiler(loadNodeKeys(folder).privateKey);
  const feed = createFeed({
    clock: new ControlClock(),
    control,
    store,
    compiler,
    file: new ConfigFile(join(folder, 'config.log')),
    log: {
      info: () => undefined,
      warn: (fields, message) => {
        warnings.push(`${message} ${JSON.stringify(fields)}`);
      },
    },
    onRecall: (leaseId) => recalls.push(leaseId),
  });
  cleanups.push(async () => {
    await feed.stop();
    await control.stop();
  });
  return { plane, feed, store, compiler, folder, recalls, warnings };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function startPlaneAndFeed(): Promise<RunningFeed> {
  const plane = await startPlane();
  cleanups.push(() => plane.close());
  const running = startFeed(plane);
  running.feed.follow({ nodeId: 'node_1', instanceId: 'process_1' });
  return running;
}

const KEY: KeyRecord = keyOf('wallet_a', { digest: 'a'.repeat(64) });
const FIRST = [entry(SETTINGS, 1), entry(KEY, 2)];

test('the feed applies snapshots and deltas, stores them for the owner only, and acknowledges', async () => {
  const { plane, store, folder, recalls } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  expect(follower.fromRevision).toBe(null);
  const checksum = checksumOf(FIRST);
  for (const [chunk, each] of FIRST.entries())
    follower.push(snapshot(2, [each], { checksum, chunk, chunks: 2 }));
  await expect.poll(() => store.current?.keyByDigest(KEY.digest)?.id).toBe(KEY.id);
  await expect.poll(() => plane.acks.at(-1)).toMatchObject({ revision: 2, checksum });
  expect(statSync(join(folder, 'config.log')).mode & 0o777).toBe(0o600);
  const stopped: string[] = [];
  store.onKeysStopped((keys) => stopped.push(...keys.keys()));
  const disabled = entry({ ...KEY, enabled: false, disabledReason: 'OWNER' }, 3);
  follower.push(delta(2, 3, { upserts: [disabled], all: [entry(SETTINGS, 1), disabled] }));
  await expect.poll(() => stopped).toEqual([KEY.id]);
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(3);
  follower.push({ __typename: 'LeaseRecall', leaseId: 'lease_1' });
  await expect.poll(() => recalls).toEqual(['lease_1']);
});

/** A feed with a stored configuration that has received the first of two parts of the next snapshot. */
async function startWithPart() {
  const running = await startPlaneAndFeed();
  const { plane, folder } = running;
  const follower = await plane.follower(1);
  follower.push(snapshot(2, FIRST));
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(2);
  const all = [entry(SETTINGS, 1), entry({ ...KEY, enabled: false }, 3)];
  const [first, second] = all.map((each, chunk) =>
    snapshot(3, [each], { checksum: checksumOf(all), chunk, chunks: 2 }),
  );
  if (!first || !second) throw new Error('There are two parts.');
  const file = join(folder, 'config.log');
  const stored = readFileSync(file, 'utf8');
  const received = `${file}.received`;
  const expectUnchanged = async () => {
    await expect.poll(() => existsSync(received)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(stored);
  };
  return { ...running, follower, first, second, received, expectUnchanged };
}

test('the part of a snapshot is removed from the disk when the stream ends', async () => {
  const { plane, follower, first, second, received, expectUnchanged, store } = await startWithPart();
  follower.push(first);
  await expect.poll(() => existsSync(received)).toBe(true);
  follower.end();
  await expectUnchanged();
  const next = await plane.follower(2);
  next.push(first);
  next.push(second);
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(3);
  expect(store.current?.keyByDigest(KEY.digest)?.enabled).toBe(false);
  expect(existsSync(received)).toBe(false);
});

test('a snapshot with a wrong checksum is removed from the disk', async () => {
  const { plane, follower, first, second, received, expectUnchanged } = await startWithPart();
  const wrong = { checksum: 'f'.repeat(64) };
  follower.push({ ...first, ...wrong });
  await expect.poll(() => existsSync(received)).toBe(true);
  follower.push({ ...second, ...wrong });
  await expect
    .poll(() => plane.acks.at(-1))
    .toMatchObject({ revision: 3, error: expect.stringContaining('checksum') });
  await expectUnchanged();
});

test('the part of a snapshot is removed from the disk before the feed has stopped', async () => {
  const { feed, follower, first, received, expectUnchanged } = await startWithPart();
  follower.push(first);
  await expect.poll(() => existsSync(received)).toBe(true);
  await feed.stop();
  expect(existsSync(received)).toBe(false);
  await expectUnchanged();
});

test('the feed refuses a bad record with its place, and keeps the last configuration', async () => {
  const { plane, store } = await startPlaneAndFeed();
  const first = await plane.follower(1);
  first.push(snapshot(2, FIRST));
  await expect.poll(() => store.current?.revision).toBe(2);
  const bad = entry({ ...KEY, walletId: '' }, 3);
  first.push(delta(2, 3, { upserts: [bad], all: [entry(SETTINGS, 1), bad] }));
  // The acknowledgement of revision 2, which waits for the disk, may come later.
  const errors = () => plane.acks.map(({ error }) => error).join();
  await expect.poll(errors).toMatch(/API_KEY .*walletId is not/);
  expect(store.current?.keyByDigest(KEY.digest)?.walletId).toBe('wallet_a');
  const second = await plane.follower(2);
  expect(second.fromRevision).toBe(null);
  second.push(snapshot(4, FIRST));
  await expect.poll(() => store.current?.revision).toBe(4);
});

test('the feed requests a snapshot after a wrong checksum, a gap or parts that do not fit', async () => {
  const { plane, store } = await startPlaneAndFeed();
  (await plane.follower(1)).push(snapshot(2, FIRST));
  await expect.poll(() => store.current?.revision).toBe(2);
  const events: ConfigEvent[] = [
    Object.assign(delta(2, 3, { upserts: [], all: FIRST }), { checksum: 'f'.repeat(64) }),
    delta(7, 8, { upserts: [], all: FIRST }),
    snapshot(9, FIRST, { chunk: 3, chunks: 5 }),
  ];
  for (const [at, event] of events.entries()) {
    (await plane.follower(at + 1)).push(event);
    expect((await plane.follower(at + 2)).fromRevision).toBe(null);
    expect(store.current?.revision).toBe(2);
  }
});

test('the feed reconnects from its revision, and from a snapshot after REVISION_GAP', async () => {
  const { plane, store } = await startPlaneAndFeed();
  const first = await plane.follower(1);
  first.push(snapshot(2, FIRST));
  await expect.poll(() => store.current?.revision).toBe(2);
  first.end();
  const second = await plane.follower(2);
  expect(second.fromRevision).toBe(2);
  second.end(new GraphQLError('too old', { extensions: { code: 'REVISION_GAP' } }));
  expect((await plane.follower(3)).fromRevision).toBe(null);
});

test('a heartbeat confirms the revision; two with a later one make the feed request a snapshot', async () => {
  const { plane, store } = await startPlaneAndFeed();
  const first = await plane.follower(1);
  first.push(snapshot(2, FIRST));
  await expect.poll(() => store.current?.revision).toBe(2);
  const before = store.current;
  const at = '2027-01-01T00:00:00.000Z';
  first.push({ __typename: 'ConfigHeartbeat', revision: 2, at });
  await expect.poll(() => store.current !== before).toBe(true);
  expect(Math.abs((store.current?.confirmedAt ?? 0) - Date.parse(at))).toBeLessThan(5_000);
  for (let time = 0; time < 2; time += 1)
    first.push({ __typename: 'ConfigHeartbeat', revision: 5, at: new Date().toISOString() });
  expect((await plane.follower(2)).fromRevision).toBe(null);
});

test('the feed repeats an unanswered acknowledgement at the next heartbeat', async () => {
  const { plane, warnings } = await startPlaneAndFeed();
  const first = await plane.follower(1);
  plane.lost.acks = 1;
  first.push(snapshot(2, FIRST));
  await expect.poll(() => warnings.join()).toMatch(/was not accepted/);
  expect(plane.acks).toEqual([]);
  for (let time = 0; time < 2; time += 1)
    first.push({ __typename: 'ConfigHeartbeat', revision: 2, at: new Date().toISOString() });
  await expect.poll(() => plane.acks).toMatchObject([{ revision: 2, instanceId: 'process_1' }]);
});

function upstreamRecords(publicKey: string): [ConfigRecord, ConfigRecord, ConfigRecord] {
  const credential: ConfigRecord = {
    kind: 'CREDENTIAL',
    id: 'cred_1',
    providerId: 'prov_1',
    origin: 'https://api.example.com',
    binding: null,
    sealed: seal('upstream-secret', publicKey, 'cred_1'),
  };
  const provider: ConfigRecord = {
    kind: 'PROVIDER',
    id: 'prov_1',
    name: 'one',
    protocols: ['openai-chat'],
    baseUrl: 'https://api.example.com/v1',
    timeouts: { connectMs: 1, headersMs: 1, firstContentMs: 1, idleMs: 1, totalMs: 1 },
    concurrencyLimit: null,
    allowPrivate: false,
    access: null,
  };
  const route: ConfigRecord = {
    kind: 'ROUTE',
    id: 'route_1',
    modelId: 'model_1',
    providerId: 'prov_1',
    upstreamModel: 'gpt',
    families: ['chat_completions'],
    priority: 0,
    weight: 1,
  };
  return [credential, provider, route];
}

test('a node starts from its file while the control plane is away', async () => {
  const { plane, feed, folder, store } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  const { publicKey } = loadNodeKeys(folder);
  const [credential, provider, route] = upstreamRecords(publicKey);
  const all = [...FIRST, entry(credential, 3), entry(provider, 4), entry(route, 5)];
  follower.push(snapshot(5, all));
  const later = entry({ ...KEY, enabled: false }, 6);
  const final = all.map((each) => (each.key === KEY.id ? later : each));
  follower.push(delta(5, 6, { upserts: [later], all: final }));
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(6);
  await feed.stop();
  const path = join(folder, 'config.log');
  expect(readFileSync(path, 'utf8')).not.toContain('upstream-secret');
  const again = startFeed({ ...plane, url: 'http://127.0.0.1:9' }, folder);
  await again.feed.startFromFile();
  expect(again.store.current?.revision).toBe(6);
  expect(again.store.current?.keyByDigest(KEY.digest)?.enabled).toBe(false);
  expect(again.store.current?.confirmedAt).toBe(store.current?.confirmedAt);
  expect(again.store.current?.routesFor('model_1', 'messages')[0]?.credentials[0]?.secret).toBe(
    'upstream-secret',
  );
});

test('a credential that cannot be read fails alone', async () => {
  const { plane, store, folder } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  const { publicKey } = loadNodeKeys(folder);
  const [credential, provider, route] = upstreamRecords(publicKey);
  const foreign = seal('secret', loadNodeKeys(newFolder()).publicKey, 'cred_2');
  const unreadable = [
    entry({ ...credential, id: 'cred_2', sealed: foreign } as ConfigRecord, 6),
    entry({ ...credential, id: 'cred_3', sealed: foreign, providerId: 'prov_2' } as ConfigRecord, 6),
    entry({ ...provider, id: 'prov_2' } as ConfigRecord, 6),
    entry({ ...route, id: 'route_2', providerId: 'prov_2' } as ConfigRecord, 6),
  ];
  const all = [...FIRST, entry(credential, 3), entry(provider, 4), entry(route, 5), ...unreadable];
  follower.push(snapshot(6, all));
  await expect.poll(() => plane.acks.at(-1)).toMatchObject({ revision: 6 });
  expect(store.current?.keyByDigest(KEY.digest)?.enabled).toBe(true);
  const routes = store.current?.routesFor('model_1', 'chat_completions') ?? [];
  expect(routes.map((each) => each.credentials.map(({ id }) => id))).toEqual([['cred_1']]);
});

test('an upstream with an unknown word fails alone and stays in the file as it came', async () => {
  const { plane, feed, store, folder } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  const [credential, provider, route] = upstreamRecords(loadNodeKeys(folder).publicKey);
  const access = { ...DEFAULT_ACCESS, auth: 'OF_A_LATER_RELEASE' };
  const later = [
    entry({ ...provider, id: 'prov_2', access } as ConfigRecord, 6),
    entry({ ...route, id: 'route_2', providerId: 'prov_2' } as ConfigRecord, 6),
    entry(Object.assign({}, route, { id: 'route_3', families: ['telepathy'] }), 6),
  ];
  const all = [...FIRST, entry(credential, 3), entry(provider, 4), entry(route, 5), ...later];
  follower.push(snapshot(6, all));
  await expect.poll(() => plane.acks.at(-1)).toEqual(expect.objectContaining({ revision: 6 }));
  const routes = store.current?.routesFor('model_1', 'chat_completions') ?? [];
  expect(routes.map((each) => each.route.id)).toEqual(['route_1']);
  await feed.stop();
  expect(readFileSync(join(folder, 'config.log'), 'utf8')).toContain('OF_A_LATER_RELEASE');
  const again = startFeed(plane, folder);
  await again.feed.startFromFile();
  expect(again.compiler.skipped).toBe(2);
});

test('a node of another release than its file asks for a snapshot until it has arrived', async () => {
  const { plane, feed, folder } = await startPlaneAndFeed();
  (await plane.follower(1)).push(snapshot(2, FIRST));
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(2);
  await feed.stop();
  const path = join(folder, 'config.log');
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  const line = first.slice(9).replace(`,"release":"${RELEASE}"`, '');
  writeFileSync(path, `${crc32(line).toString(16).padStart(8, '0')} ${line}\n`);
  const again = startFeed(plane, folder);
  await again.feed.startFromFile();
  expect(again.store.current?.revision).toBe(2);
  again.feed.follow({ nodeId: 'node_1', instanceId: 'process_2' });
  (await plane.follower(2)).end();
  expect((await plane.follower(3)).fromRevision).toBe(null);
});

test('a secret that is sealed for one use cannot be opened for another', async () => {
  const { plane, store, folder } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  const { publicKey } = loadNodeKeys(folder);
  const [credential, provider, route] = upstreamRecords(publicKey);
  const binding = 'AWS_KEYS';
  const sealed = seal('aws-secret', publicKey, credentialContext({ id: 'cred_1', binding }));
  const all = (more: object) => [
    ...FIRST,
    entry({ ...credential, sealed, ...more } as ConfigRecord, 3),
    entry(provider, 4),
    entry(route, 5),
  ];
  const secrets = () =>
    store.current?.routesFor('model_1', 'chat_completions').map((each) => each.credentials[0]?.secret);
  follower.push(snapshot(6, all({ binding })));
  await expect.poll(secrets).toEqual(['aws-secret']);
  follower.push(snapshot(7, all({})));
  await expect.poll(() => store.current?.revision).toBe(7);
  expect(secrets()).toEqual([]);
});

test('a damaged file is logged and ignored; a torn last line loses only itself', async () => {
  const { plane, feed, folder } = await startPlaneAndFeed();
  const follower = await plane.follower(1);
  follower.push(snapshot(2, FIRST));
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(2);
  const later = entry({ ...KEY, enabled: false }, 3);
  follower.push(delta(2, 3, { upserts: [later], all: [entry(SETTINGS, 1), later] }));
  await expect.poll(() => plane.acks.at(-1)?.revision).toBe(3);
  await feed.stop();
  const path = join(folder, 'config.log');
  const content = readFileSync(path, 'utf8');
  writeFileSync(path, content.replace('wallet_a', 'wallet_b'));
  const damaged = startFeed({ ...plane, url: 'http://127.0.0.1:9' }, folder);
  await damaged.feed.startFromFile();
  expect(damaged.store.current).toBeUndefined();
  expect(damaged.warnings.join()).toMatch(/config\.log is damaged at line 1/);
  writeFileSync(path, content.slice(0, -5));
  const torn = startFeed({ ...plane, url: 'http://127.0.0.1:9' }, folder);
  await torn.feed.startFromFile();
  expect(torn.store.current?.revision).toBe(2);
});

test('the feed follows a control plane that comes back, and stopping never throws', async () => {
  const { plane, store, feed } = await startPlaneAndFeed();
  (await plane.follower(1)).push(snapshot(2, FIRST));
  await expect.poll(() => store.current?.revision).toBe(2);
  await plane.close();
  await expect.poll(() => feed.connected).toBe(false);
  const back = await startPlane(plane.port);
  expect((await back.follower(1)).fromRevision).toBe(2);
  await Promise.all([back.close(), feed.stop()]);
});
