/** Adds secrets to the events of the configuration, sealed for the public key of the node that gets them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { CredentialRecord, SettingsRecord } from '@gateway/shared/records';
import { credentialContext, seal } from '@gateway/shared/sealing';
import { requestError } from '../graphql/errors.ts';
import type { SnapshotPart } from './config-state.ts';
import { UnreadableSecret } from '../upstreams/stored-secrets.ts';

export interface SecretReaders {
  em(): EntityManager;
  /** Decrypts a stored credential; undefined if it was deleted. */
  openCredential(em: EntityManager, credentialId: string): Promise<string | undefined>;
  /** Reads the key of the ids of stored objects. Absent: nodes refuse stored objects. */
  openStateKey?: ((em: EntityManager) => Promise<string>) | undefined;
  /** Receives failures that concern one secret alone. */
  onTrouble?: ((error: unknown) => void) | undefined;
}

/** An event before it is made for one node. */
export type FeedEvent = Exclude<ConfigEvent, { __typename: 'ConfigSnapshot' }> | SnapshotPart;

/**
 * The event for a node, with its secrets sealed for the node's key. Throws REVISION_GAP if a credential was
 * deleted meanwhile.
 */
export async function eventFor(
  node: { publicKey: string; isPacked: boolean },
  event: FeedEvent,
  readers: SecretReaders,
): Promise<ConfigEvent> {
  const sealAll = (entries: ConfigEntry[]): Promise<ConfigEntry[]> =>
    Promise.all(entries.map((entry) => sealedEntry(entry, node.publicKey, readers)));
  if (event.__typename === 'ConfigDelta') return { ...event, upserts: await sealAll(event.upserts) };
  if (event.__typename !== 'ConfigSnapshot') return event;
  const { part, hasSecrets, ...rest } = event;
  if (hasSecrets) return { ...rest, entries: await sealAll(await part.entries()) };
  if (node.isPacked) return { ...rest, entries: [], packed: await part.packed() };
  return { ...rest, entries: await part.entries() };
}

async function sealedEntry(
  entry: ConfigEntry,
  publicKey: string,
  readers: SecretReaders,
): Promise<ConfigEntry> {
  const { payload } = entry;
  if (payload.kind === 'CREDENTIAL')
    return { ...entry, payload: await withSecret(payload, publicKey, readers) };
  if (payload.kind === 'SETTINGS')
    return { ...entry, payload: await withStateKey(payload, publicKey, readers) };
  return entry;
}

async function withSecret(
  credential: CredentialRecord,
  publicKey: string,
  readers: SecretReaders,
): Promise<CredentialRecord> {
  const secret = await openSecret(credential.id, readers);
  // The credential was deleted after this event was created, so the event is outdated.
  if (secret === undefined)
    throw requestError('REVISION_GAP', 'The configuration has changed meanwhile. Subscribe again.');
  return { ...credential, sealed: seal(secret, publicKey, credentialContext(credential)) };
}

/**
 * The secret of a credential; empty if it cannot be decrypted, so that only this credential fails. Nodes
 * count it as unreadable.
 */
async function openSecret(
  id: string,
  { em, openCredential, onTrouble }: SecretReaders,
): Promise<string | undefined> {
  try {
    return await openCredential(em(), id);
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    onTrouble?.(
      new Error(`Credential ${id} cannot be decrypted with SECRET_KEY. Add it again.`, { cause: error }),
    );
    return '';
  }
}

/** The settings with the key; without it if it cannot be decrypted, so that only stored objects fail. */
async function withStateKey(
  settings: SettingsRecord,
  publicKey: string,
  { em, openStateKey, onTrouble }: SecretReaders,
): Promise<SettingsRecord> {
  try {
    const key = await openStateKey?.(em());
    return key === undefined ? settings : { ...settings, stateKey: seal(key, publicKey, settings.id) };
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    const message =
      'The key of stored objects cannot be decrypted with SECRET_KEY. Stored objects are refused.';
    onTrouble?.(new Error(message, { cause: error }));
    return settings;
  }
}
