/**
 * The identity of a node in its data folder: an X25519 key pair and the node id, readable only by the owner.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportPublicKey } from '@gateway/shared/sealing';

const OWNER_ONLY = 0o600;

/** The key pair for which the control plane seals credentials. */
interface NodeKeys {
  privateKey: KeyObject;
  publicKey: string;
}

/** Loads the key pair of a data folder; creates it on the first call. */
export function loadNodeKeys(folder: string): NodeKeys {
  const path = join(folder, 'node.key');
  if (!existsSync(path)) {
    const { privateKey } = generateKeyPairSync('x25519');
    writeWhole(folder, path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  }
  const privateKey = createPrivateKey(readFileSync(path));
  return { privateKey, publicKey: exportPublicKey(createPublicKey(privateKey)) };
}

/**
 * Binds a data folder to a node on the first call. Later calls throw if the node is another one: only the
 * first node may settle the charges and leases in the journal of the folder.
 */
export function bindFolder(folder: string, nodeId: string): void {
  const path = join(folder, 'node.id');
  if (!existsSync(path)) {
    writeWhole(folder, path, nodeId);
    return;
  }
  const owner = readFileSync(path, 'utf8').trim();
  if (owner !== nodeId) {
    throw new Error(
      `${folder} belongs to node ${owner}, but NODE_TOKEN is for ${nodeId}: change the token or DATA_DIR`,
    );
  }
}

function writeWhole(folder: string, path: string, content: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.tmp`;
  writeFileSync(next, content, { mode: OWNER_ONLY, flush: true });
  renameSync(next, path);
}
