/** Tables with many entries and few changes: updated structures equal newly built ones. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { crc32 } from 'node:zlib';
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { AccountRecord, ConfigKind, KeyRecord } from '@gateway/shared/records';
import { keyOf } from '../../test/ledger/records.ts';
import { keysStopped } from './compile.ts';
import { ConfigFile } from './file.ts';
import { PersistentMap } from './persistent-map.ts';
import { RecordIndex } from './record-index.ts';
import { NO_TABLES, changed, entriesOf } from './tables.ts';
import type { Tables } from './tables.ts';

/** Time of the changes in ms of the wall clock. */
const NOW = 1_000_000;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const changesOf = (key: fc.Arbitrary<string>): fc.Arbitrary<Map<string, number | undefined>> =>
  fc
    .array(fc.tuple(key, fc.option(fc.nat(), { nil: undefined })), { maxLength: 300 })
    .map((all) => new Map(all));

test('a persistent map behaves like a map, and earlier versions never change', () => {
  const key = fc.nat(2000).map((number) => `key_${number}`);
  fc.assert(
    fc.property(fc.array(changesOf(key), { maxLength: 8 }), (batches) => {
      const model = new Map<string, number>();
      const states: { map: PersistentMap<number>; model: Map<string, number> }[] = [];
      let map = PersistentMap.from<number>(new Map());
      for (const batch of batches) {
        map = map.with(batch);
        for (const [name, value] of batch) {
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        states.push({ map, model: new Map(model) });
      }
      for (const state of states) {
        expect(state.map.size).toBe(state.model.size);
        const ascending = (values: Iterable<number>) => [...values].sort((one, other) => one - other);
        expect(ascending(state.map.values())).toEqual(ascending(state.model.values()));
        for (const [name, value] of state.model) expect(state.map.get(name)).toBe(value);
        const rebuilt = PersistentMap.from(state.model);
        expect([...state.map.since(rebuilt)]).toEqual([]);
      }
      const [first] = states;
      if (!first) return;
      const found = new Map([...map.since(first.map)].map((each) => [JSON.stringify(each), each]));
      const names = new Set([...first.model.keys(), ...model.keys()]);
      for (const name of names) {
        const difference = { before: first.model.get(name), after: model.get(name) };
        if (difference.before !== difference.after) expect(found.has(JSON.stringify(difference))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

function entry(record: KeyRecord, revision: number): ConfigEntry {
  return { kind: record.kind, key: record.id, revision, payload: record };
}

function digestOf(number: number): string {
  return number.toString(16).padStart(64, '0');
}

/** The tables after a change, with the right checksum. */
function after(
  tables: Tables,
  upserts: ConfigEntry[],
  removals: { kind: ConfigKind; key: string }[] = [],
): Tables {
  const revision = tables.revision + 1;
  const held = new Map([...entriesOf(tables)].map((each) => [each.key, each]));
  for (const each of upserts) held.set(each.key, each);
  for (const { key } of removals) held.delete(key);
  const sum = new ConfigChecksum();
  for (const each of held.values()) sum.toggle(each.kind, each.key, each.revision);
  return changed(tables, { revision, checksum: sum.value, upserts, removals });
}

test('an index that follows changes equals a new one, even when keys move between records', () => {
  const step = fc.record({ id: fc.nat(5), wallet: fc.option(fc.nat(7), { nil: null }) });
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 10 }), (batches) => {
      const following = new RecordIndex('ACCOUNT', ({ walletId }) => walletId);
      let tables = NO_TABLES;
      const owners = new Map<string, string>();
      for (const batch of batches) {
        const wanted = new Map(batch.map(({ id, wallet }) => [`account_${id}`, wallet]));
        for (const id of wanted.keys()) owners.delete(id);
        const upserts: ConfigEntry[] = [];
        const removals: { kind: ConfigKind; key: string }[] = [];
        for (const [id, number] of wanted) {
          // Wallets are unique among accounts.
          if (number === null || [...owners.values()].includes(`wallet_${number}`)) {
            removals.push({ kind: 'ACCOUNT', key: id });
            continue;
          }
          owners.set(id, `wallet_${number}`);
          upserts.push(account(`wallet_${number}`, { id }));
        }
        tables = after(tables, upserts, removals);
        const lookup = following.of(tables);
        expect(lookup.size).toBe(owners.size);
        for (const [id, walletId] of owners) expect(lookup.get(walletId)?.id).toBe(id);
      }
    }),
    { numRuns: 100 },
  );
});

test('a suspended account stops every enabled key of its wallet, and no other key', () => {
  const keys = ['a', 'b', 'c'].map((name, at) =>
    entry(keyOf(name === 'c' ? 'wallet_2' : 'wallet_1', { id: name, digest: digestOf(at) }), 1),
  );
  const before = after(NO_TABLES, [...keys, account('wallet_1'), account('wallet_2')]);
  const suspended = after(before, [account('wallet_1', { suspended: true })]);
  expect([...keysStopped(before, suspended, NOW).keys()].sort()).toEqual(['a', 'b']);
  expect([...keysStopped(suspended, suspended, NOW)]).toEqual([]);
});

test('a key was stopped by its owner only if the control plane says so', () => {
  const key = keyOf('wallet_1', { id: 'a', digest: digestOf(0) });
  const before = after(NO_TABLES, [entry(key, 1), account('wallet_1')]);
  const by = (...entries: ConfigEntry[]) => keysStopped(before, after(before, entries), NOW).get('a')?.by;
  const disabled = (disabledReason: string) => entry({ ...key, enabled: false, disabledReason }, 2);
  const reasons = ['OWNER', 'LEAKED', 'REVOKED', 'ADMIN', 'OWNER_SUSPENDED', 'SOMETHING_NEW'];
  expect(reasons.map((reason) => by(disabled(reason)))).toEqual([
    ...['OWNER', 'OWNER', 'OWNER'],
    ...['OPERATOR', 'OPERATOR', 'OPERATOR'],
  ]);
  expect(keysStopped(before, NO_TABLES, NOW).get('a')).toEqual({ by: 'OPERATOR' });
  expect(by(account('wallet_1', { suspended: true }))).toBe('OPERATOR');
  expect(by(account('wallet_1', { suspended: true, closed: true }))).toBe('OWNER');
  expect(by(disabled('OWNER'), account('wallet_1', { suspended: true }))).toBe('OWNER');
  expect(by(disabled('ADMIN'), account('wallet_1', { suspended: true, closed: true }))).toBe('OPERATOR');
});

test('a secret of a key is stopped if it ends early, and the key stays usable', () => {
  const [old, fresh, next] = [digestOf(0), digestOf(1), digestOf(2)];
  const rotated = (changes: Partial<KeyRecord>) => keyOf('wallet_1', { id: 'a', digest: fresh, ...changes });
  const stopOf = (previousUntil: number, changes: Partial<KeyRecord>) => {
    const before = after(NO_TABLES, [entry(rotated({ previousDigest: old, previousUntil }), 1)]);
    return keysStopped(before, after(before, [entry(rotated(changes), 2)]), NOW).get('a');
  };
  const later = NOW + 1_000;
  expect(stopOf(later, {})).toEqual({ by: 'OWNER', secrets: [old] });
  expect(stopOf(later, { digest: next, previousDigest: fresh, previousUntil: later })).toEqual({
    by: 'OWNER',
    secrets: [old],
  });
  expect(stopOf(later, { digest: next })).toEqual({ by: 'OWNER', secrets: [fresh, old] });
  expect(stopOf(later, { enabled: false, disabledReason: 'OWNER' })).toEqual({ by: 'OWNER' });
  expect(stopOf(later, { previousDigest: old, previousUntil: later, group: 'vip' })).toBe(undefined);
  // The grace period had ended already.
  expect(stopOf(NOW, {})).toBe(undefined);
});

function account(walletId: string, changes: Partial<AccountRecord> = {}): ConfigEntry {
  const open = { frozen: false, suspended: false, closed: false };
  const payload: AccountRecord = { kind: 'ACCOUNT', id: walletId, walletId, ...open, ...changes };
  return { kind: 'ACCOUNT', key: payload.id, revision: changes.suspended ? 2 : 1, payload };
}

/** The path of a file in a new folder. */
function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tables-'));
  folders.push(folder);
  return join(folder, 'config.log');
}

test('a snapshot of 1,000 entries of 67 kB is read back', async () => {
  const path = newFile();
  const allowedModels = ['a', 'b', 'c', 'd'].map((name) => name.repeat(16_750));
  const entries = Array.from({ length: 1_000 }, (_, at) =>
    entry(keyOf('wallet_a', { id: `key_${at}`, digest: digestOf(at), allowedModels }), 1),
  );
  const tables = after(NO_TABLES, entries);
  await new ConfigFile(path).writeSnapshot({ tables, confirmedAt: 7 });
  const stored = await new ConfigFile(path).load();
  expect(stored?.tables.checksum).toBe(tables.checksum);
});

function many(count: number): Tables {
  return after(
    NO_TABLES,
    Array.from({ length: count }, (_, at) =>
      entry(keyOf('wallet_a', { id: `key_${at}`, digest: digestOf(at) }), 1),
    ),
  );
}

test('a snapshot of many lines is read back; a missing line is damage', async () => {
  const path = newFile();
  const tables = many(2500);
  await new ConfigFile(path).writeSnapshot({ tables, confirmedAt: 7 });
  const stored = await new ConfigFile(path).load();
  expect(stored?.confirmedAt).toBe(7);
  expect(stored?.tables.checksum).toBe(tables.checksum);
  expect([...entriesOf(stored?.tables ?? NO_TABLES)].length).toBe(2500);
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines.length).toBe(6);
  writeFileSync(path, [...lines.slice(0, 1), ...lines.slice(2)].join('\n'));
  await expect(new ConfigFile(path).load()).rejects.toThrow(/damaged/);
  writeFileSync(path, [...lines.slice(0, 2), ''].join('\n'));
  await expect(new ConfigFile(path).load()).rejects.toThrow(/damaged/);
});

test('a snapshot in one line, as earlier releases wrote it, is read', async () => {
  const path = newFile();
  const tables = many(3);
  const { revision, checksum } = tables;
  const json = JSON.stringify({
    type: 'snapshot',
    revision,
    checksum,
    entries: [...entriesOf(tables)],
    confirmedAt: 5,
  });
  writeFileSync(path, `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`);
  expect((await new ConfigFile(path).load())?.tables.checksum).toBe(checksum);
});

test('a file of an earlier release, whose entries are not compressed, is read and added to', async () => {
  const path = newFile();
  const tables = many(3);
  const { revision, checksum } = tables;
  const [first, ...others] = [...entriesOf(tables)];
  const parts = { type: 'snapshot', revision, checksum, entries: [first], left: 2, confirmedAt: 5 };
  const lines = [parts, { type: 'entries', entries: others, left: 0 }].map((line) => JSON.stringify(line));
  writeFileSync(path, lines.map((json) => `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`).join(''));
  const file = new ConfigFile(path);
  const stored = await file.load();
  expect(stored).toMatchObject({ confirmedAt: 5, isOwn: false, tables: { checksum } });
  await file.writeConfirmed({ tables, confirmedAt: 6 });
  expect(readFileSync(path, 'utf8').split('\n').length).toBe(4);
  expect((await new ConfigFile(path).load())?.confirmedAt).toBe(6);
});

test('a file whose last line is incomplete is replaced by the next write', async () => {
  const path = newFile();
  const tables = many(3);
  await new ConfigFile(path).writeSnapshot({ tables, confirmedAt: 1 });
  writeFileSync(path, '0000', { flag: 'a' });
  const file = new ConfigFile(path);
  expect((await file.load())?.confirmedAt).toBe(1);
  await file.writeConfirmed({ tables, confirmedAt: 2 });
  expect((await new ConfigFile(path).load())?.confirmedAt).toBe(2);
});

test('a file is replaced by the next write after a snapshot could not be written', async () => {
  const path = newFile();
  const [tables, later] = [many(3), many(4)];
  await new ConfigFile(path).writeSnapshot({ tables, confirmedAt: 1 });
  const file = new ConfigFile(path);
  await file.load();
  // No file can be written where a folder is.
  mkdirSync(`${path}.tmp`);
  await expect(file.writeSnapshot({ tables: later, confirmedAt: 2 })).rejects.toThrow('EISDIR');
  rmdirSync(`${path}.tmp`);
  await file.writeConfirmed({ tables: later, confirmedAt: 3 });
  expect((await new ConfigFile(path).load())?.tables.checksum).toBe(later.checksum);
});

test('the file is rewritten when about as many entries were added as it had', async () => {
  const path = newFile();
  const file = new ConfigFile(path);
  let tables = many(3000);
  await file.writeSnapshot({ tables, confirmedAt: 1 });
  const sizes: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const upserts = Array.from({ length: 3000 }, (_, at) =>
      entry(keyOf('wallet_a', { id: `key_${at}`, digest: digestOf(at) }), round + 2),
    );
    tables = after(tables, upserts);
    const { revision, checksum } = tables;
    const stored = { tables, confirmedAt: round };
    await file.writeDeltas([{ revision, checksum, upserts, removals: [] }], stored);
    sizes.push(statSync(path).size);
  }
  const shrunk = sizes.flatMap((size, at) => (size < (sizes[at - 1] ?? 0) ? at : []));
  expect(shrunk.length).toBeGreaterThan(0);
  expect(Math.max(...sizes)).toBeLessThan(4 * 1024 * 1024);
  expect((await new ConfigFile(path).load())?.tables.checksum).toBe(tables.checksum);
});

test('a secret may move from one key to another in one change', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id, at) => keyOf('wallet_1', { id, digest: digestOf(at) }));
  if (!a || !b || !c) throw new Error('There are three keys.');
  const before = after(
    NO_TABLES,
    [a, b, c].map((key) => entry(key, 1)),
  );
  const swapped = after(before, [entry({ ...a, digest: b.digest }, 2), entry({ ...b, digest: a.digest }, 2)]);
  expect(swapped.keys.byDigest(a.digest)?.id).toBe('b');
  expect(swapped.keys.byDigest(b.digest)?.id).toBe('a');
  expect(swapped.keys.byDigest(c.digest)?.id).toBe('c');
  expect(before.keys.byDigest(a.digest)?.id).toBe('a');
});
