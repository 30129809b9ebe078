/** The key of stored objects: read by the node that it is sealed for, and missing without harm elsewhere. */
import { generateKeyPairSync } from 'node:crypto';
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { SettingsRecord } from '@gateway/shared/records';
import { exportPublicKey, seal } from '@gateway/shared/sealing';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../test/request-path.ts';
import type { SealedIds } from '../state/sealed-ids.ts';
import { Compiler } from './compile.ts';
import { NO_TABLES, changed } from './tables.ts';

const KEY = Buffer.alloc(32, 3).toString('base64url');
const OBJECT = { kind: 'response', providerId: 'p', credentialId: 'c', model: 'm', upstreamId: 'u' } as const;

/** The state key that a node with this private key compiles from settings with this sealed key. */
function idsOf(
  privateKey: Parameters<typeof exportPublicKey>[0],
  stateKey: string | null,
): SealedIds | undefined {
  const payload: SettingsRecord = { ...SETTINGS, stateKey };
  const entry = { kind: 'SETTINGS', key: 'settings', revision: 1, payload } as const;
  const checksum = new ConfigChecksum();
  checksum.toggle('SETTINGS', 'settings', 1);
  const change = { revision: 1, checksum: checksum.value, upserts: [entry], removals: [] };
  return new Compiler(privateKey).compile(changed(NO_TABLES, change), 0).sealedIds;
}

describe('the key of stored objects', () => {
  const [one, two] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
  const sealedFor = ({ publicKey }: typeof one) => seal(KEY, exportPublicKey(publicKey), 'settings');

  it('makes the same ids on every node', () => {
    const [first, second] = [one, two].map((pair) => idsOf(pair.privateKey, sealedFor(pair)));
    const id = first?.seal(OBJECT, 'wallet-a') ?? '';
    expect(second?.seal(OBJECT, 'wallet-a')).toBe(id);
    expect(second?.open(id, 'response', 'wallet-a')).toEqual(OBJECT);
  });

  it('leaves the configuration usable if it is missing or sealed for another node', () => {
    expect(idsOf(one.privateKey, null)).toBeUndefined();
    expect(idsOf(one.privateKey, sealedFor(two))).toBeUndefined();
    expect(idsOf(one.privateKey, 'broken')).toBeUndefined();
  });
});
