/** Snapshots are written to the disk while they arrive, and only complete ones become the configuration. */
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { keyOf } from '../../test/ledger/records.ts';
import { snapshotLine } from './file-lines.ts';
import { ConfigFile } from './file.ts';
import { ReceivedLines } from './received-lines.ts';
import { NO_TABLES, changed } from './tables.ts';
import type { Tables } from './tables.ts';

const KEYS = 3;

let folder: string;
let place: string;
let temporary: string;
let file: ConfigFile;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gateway-received-'));
  place = path.join(folder, 'config.log');
  temporary = `${place}.received`;
  file = new ConfigFile(place);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** All keys in a revision. */
function entriesAt(revision: number): ConfigEntry[] {
  return Array.from({ length: KEYS }, (_, at) => {
    const payload = keyOf('wallet_a', { id: `key_${at}`, digest: `${at}`.repeat(64) });
    return { kind: payload.kind, key: payload.id, revision, payload };
  });
}

/** The tables with all keys in a revision. */
function tablesAt(revision: number): Tables {
  const sum = new ConfigChecksum();
  const upserts = entriesAt(revision);
  for (const { kind, key } of upserts) sum.toggle(kind, key, revision);
  return changed(NO_TABLES, { revision, checksum: sum.value, upserts, removals: [] });
}

/** Gives the lines the first parts of a snapshot: one entry each, with a field that this release has not. */
function receive(lines: ReceivedLines, tables: Tables, parts = KEYS): void {
  for (const [at, entry] of entriesAt(tables.revision).slice(0, parts).entries()) {
    const head = at === 0 ? { ...tables, confirmedAt: 1 } : undefined;
    lines.add(snapshotLine({ entries: [{ ...entry, ...{ unknown: 'kept' } }] }, KEYS - 1 - at, head));
  }
}

const keptIn = (name: string): number => readFileSync(name, 'utf8').match(/"unknown":"kept"/g)?.length ?? 0;

describe('a snapshot', () => {
  it('is on the disk before it is complete, for its owner only, and not after it was dropped', async () => {
    const lines = file.receive();
    receive(lines, tablesAt(1), 2);
    await expect.poll(() => existsSync(temporary) && keptIn(temporary)).toBe(2);
    expect(statSync(temporary).mode & 0o777).toBe(0o600);
    expect(existsSync(place)).toBe(false);
    await lines.drop();
    expect(existsSync(temporary)).toBe(false);
  });

  it('is stored as it arrived, with the time at which it was complete', async () => {
    const tables = tablesAt(1);
    const lines = file.receive();
    receive(lines, tables);
    await file.writeSnapshot({ tables, confirmedAt: 5, lines });
    expect(keptIn(place)).toBe(KEYS);
    expect(existsSync(temporary)).toBe(false);
    await file.writeConfirmed({ tables, confirmedAt: 6 });
    const stored = await new ConfigFile(place).load();
    expect([stored?.tables.checksum, stored?.confirmedAt]).toEqual([tables.checksum, 6]);
  });

  it('is written from its tables if a later one began to arrive before it was stored', async () => {
    const [tables, later] = [tablesAt(1), tablesAt(2)];
    const first = file.receive();
    receive(first, tables);
    const second = file.receive();
    receive(second, later);
    await file.writeSnapshot({ tables, confirmedAt: 5, lines: first });
    expect(keptIn(place)).toBe(0);
    expect(readFileSync(place, 'utf8')).toContain(tables.checksum);
    await file.writeSnapshot({ tables: later, confirmedAt: 6, lines: second });
    expect(keptIn(place)).toBe(KEYS);
    expect((await new ConfigFile(place).load())?.tables.checksum).toBe(later.checksum);
  });

  it('does not replace the file if the disk failed; one that began to arrive before does', async () => {
    const [tables, later] = [tablesAt(1), tablesAt(2)];
    await file.writeSnapshot({ tables, confirmedAt: 5 });
    // The link cannot be written, but removed.
    symlinkSync(path.join(folder, 'none', 'file'), temporary);
    const failed = file.receive();
    receive(failed, later);
    const written = file.writeSnapshot({ tables: later, confirmedAt: 6, lines: failed });
    const lines = file.receive();
    receive(lines, later);
    await expect(written).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
    expect(readFileSync(place, 'utf8')).toContain(tables.checksum);
    await file.writeSnapshot({ tables: later, confirmedAt: 6, lines });
    expect((await new ConfigFile(place).load())?.tables.checksum).toBe(later.checksum);
  });

  it('that is dropped while the disk stalls is not written when the disk goes on', async () => {
    const link = path.join(folder, 'link');
    writeFileSync(temporary, '');
    linkSync(temporary, link);
    const stalled = Promise.withResolvers<void>();
    const lines = new ReceivedLines(temporary, stalled.promise);
    receive(lines, tablesAt(1));
    const dropped = lines.drop();
    stalled.resolve();
    await dropped;
    expect([existsSync(temporary), readFileSync(link, 'utf8')]).toEqual([false, '']);
  });

  it('that a killed process received in part is removed by the next one', async () => {
    writeFileSync(temporary, 'a part');
    expect(await file.load()).toBeUndefined();
    expect(existsSync(temporary)).toBe(false);
  });
});
