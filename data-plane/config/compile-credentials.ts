/** Unseals the credentials of a configuration, and separates client certificates from other credentials. */
import type { KeyObject } from 'node:crypto';
import { CLIENT_CERTIFICATE } from '@gateway/shared/clouds/access';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { CredentialRecord } from '@gateway/shared/records';
import { credentialContext, unseal } from '@gateway/shared/sealing';
import type { CompiledCredential } from './config.ts';
import { recordOf } from './record-index.ts';
import { tableOf } from './tables.ts';
import type { Tables } from './tables.ts';

/** By provider: the credentials of requests, and the newest client certificate. */
interface Credentials {
  credentials: ReadonlyMap<string, CompiledCredential[]>;
  certificates: ReadonlyMap<string, CompiledCredential>;
}

/** Keeps unsealed secrets, so that a new configuration unseals only what has changed. */
export class CredentialCompiler {
  readonly #privateKey: KeyObject;
  readonly #onUnreadable: (credentialId: string) => void;
  readonly #secrets = new WeakMap<ConfigEntry, CompiledCredential>();
  #unreadable: ReadonlySet<string> = new Set();

  /** `onUnreadable` is called once for each credential that becomes unreadable. */
  constructor(privateKey: KeyObject, onUnreadable: (credentialId: string) => void) {
    this.#privateKey = privateKey;
    this.#onUnreadable = onUnreadable;
  }

  /** How many credentials of the last tables cannot be read. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  /** The readable credentials. A provider whose credentials are all unreadable has an empty list. */
  compile(tables: Tables): Credentials {
    const certificates = new Map<string, CompiledCredential>();
    const credentials = new Map<string, CompiledCredential[]>();
    const unreadable = new Set<string>();
    for (const entry of tableOf(tables, 'CREDENTIAL').values()) {
      const record = recordOf(entry, 'CREDENTIAL');
      const compiled = this.#secrets.get(entry) ?? this.#unseal(record);
      if (compiled) this.#secrets.set(entry, compiled);
      else unreadable.add(record.id);
      if (record.binding === CLIENT_CERTIFICATE) {
        const newest = certificates.get(record.providerId);
        if (compiled && (!newest || newest.id < record.id)) certificates.set(record.providerId, compiled);
        continue;
      }
      const others = credentials.get(record.providerId) ?? [];
      credentials.set(record.providerId, compiled ? [...others, compiled] : others);
    }
    for (const id of unreadable) if (!this.#unreadable.has(id)) this.#onUnreadable(id);
    this.#unreadable = unreadable;
    return { credentials, certificates };
  }

  /**
   * Undefined if this node cannot read it, or if the control plane sent an empty secret because it could not.
   */
  #unseal({ id, origin, binding, sealed }: CredentialRecord): CompiledCredential | undefined {
    try {
      const secret = unseal(sealed, this.#privateKey, credentialContext({ id, binding }));
      return secret === '' ? undefined : { id, origin, binding, secret };
    } catch {
      return undefined;
    }
  }
}
