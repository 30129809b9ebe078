/** Tests of compressed parts of a snapshot. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { keyOf } from '../../test/ledger/records.ts';
import { ConfigFile } from './file.ts';
import { SnapshotParts } from './snapshot-parts.ts';
import { entriesOf } from './tables.ts';

const ENTRIES: ConfigEntry[] = ['a', 'b', 'c'].map((name, at) => {
  const payload = keyOf(`wallet_${name}`, { digest: name.repeat(64) });
  return { kind: 'API_KEY', key: payload.id, revision: at + 1, payload };
});
const pack = (value: unknown): string => gzipSync(JSON.stringify(value)).toString('base64');

function checksumOf(entries: readonly ConfigEntry[]): string {
  const sum = new ConfigChecksum();
  for (const { kind, key, revision } of entries) sum.toggle(kind, key, revision);
  return sum.value;
}

/** The result of a snapshot whose first entry is plain, and the others compressed. */
function received(packed: string): SnapshotParts {
  const whole = {
    revision: 3,
    checksum: checksumOf(ENTRIES),
    chunks: 2,
    __typename: 'ConfigSnapshot' as const,
  };
  const first = { ...whole, chunk: 0, entries: ENTRIES.slice(0, 1), packed: null };
  const parts = new SnapshotParts(first, new ConfigFile('/nowhere/config.log').receive(), 0);
  expect([first, { ...whole, chunk: 1, entries: [], packed }].map((part) => parts.add(part))).toEqual([
    true,
    true,
  ]);
  return parts;
}

test('a snapshot of plain and compressed parts has the entries of both', () => {
  const tables = received(pack(ENTRIES.slice(1))).whole?.tables();
  const entries = tables && [...entriesOf(tables)];
  expect(entries?.sort((one, other) => one.revision - other.revision)).toEqual(ENTRIES);
});

test.each([
  ['damaged', pack(ENTRIES.slice(1)).slice(0, 40), /end of file|incorrect|invalid/],
  ['no list', pack({ entries: [] }), /not a list of entries/],
  ['incomplete', pack(ENTRIES.slice(2)), /announced checksum/],
  ['too large', gzipSync(Buffer.alloc(65 * 1024 * 1024, 32)).toString('base64'), /larger than/],
])('a snapshot with a compressed part that is %s is refused', (_what, packed, reason) => {
  expect(() => received(packed).whole?.tables()).toThrow(reason);
});

test('a part that cannot be decoded is not written, nor is a later one', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-parts-'));
  try {
    const lines = new ConfigFile(path.join(folder, 'config.log')).receive();
    const whole = {
      revision: 3,
      checksum: '',
      chunks: 2,
      entries: [],
      __typename: 'ConfigSnapshot' as const,
    };
    const first = { ...whole, chunk: 0, packed: pack('no list') };
    const parts = new SnapshotParts(first, lines, 0);
    for (const part of [first, { ...whole, chunk: 1, packed: pack(ENTRIES) }])
      expect(parts.add(part)).toBe(true);
    expect(() => parts.whole?.tables()).toThrow(/not a list/);
    expect(await lines.moveTo(path.join(folder, 'moved'))).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
