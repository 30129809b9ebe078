/**
 * The keys under which chats and what was learned from them are encrypted: one per user. Without the key of a
 * user, the content of the user is unreadable, also in backups that do not hold the key.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Statement } from '../database/sql.ts';
import { sql } from '../database/sql.ts';
import { NONE_SEALED, decryptSecret, encryptSecret, resealed } from '../upstreams/stored-secrets.ts';
import type { SealedCount, SecretLocation } from '../upstreams/stored-secrets.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const FORMAT = 1;
const RESEALED_AT_ONCE = 500;

/** Runs a statement in the database that holds the keys, outside of any transaction. */
export type RunStatement = (statement: Statement) => Promise<{ sealed: string; userId?: string }[]>;

/** Content of a later release. */
class UnknownFormat extends Error {
  constructor() {
    super('Encrypted content has an unknown format. Upgrade this control plane.');
  }
}

/** Encrypts and decrypts the content of one user. */
export class ContentKey {
  readonly #cipher: Buffer;
  readonly #mac: Buffer;

  constructor(secret: Buffer) {
    const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', use, KEY_BYTES));
    this.#cipher = derive('gateway content v1');
    this.#mac = derive('gateway content terms v1');
  }

  /** Encrypts a value as JSON for the row with this id. */
  seal(id: string, value: unknown): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#cipher, nonce).setAAD(Buffer.from(id));
    const sealed = [cipher.update(JSON.stringify(value), 'utf8'), cipher.final()];
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ...sealed]);
  }

  /** Decrypts a result of `seal`. Throws if the bytes are of another key or another row. */
  open(id: string, bytes: Uint8Array): unknown {
    if (bytes[0] !== FORMAT) throw new UnknownFormat();
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#cipher, nonce).setAAD(Buffer.from(id));
    const rest = decipher.setAuthTag(tag).update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES));
    return JSON.parse(Buffer.concat([rest, decipher.final()]).toString('utf8'));
  }

  /** Like `open`; undefined if the bytes are of another key, because the user's key was lost. */
  openIfOwn(id: string, bytes: Uint8Array): unknown {
    try {
      return this.open(id, bytes);
    } catch (error) {
      if (error instanceof UnknownFormat) throw error;
      return undefined;
    }
  }

  /** A value that is equal for equal texts of this user, and says nothing without the key. */
  mac(text: string): Buffer {
    return createHmac('sha256', this.#mac).update(text).digest();
  }

  /** A number for a word, for indexes. Different words have the same number with a chance of 2^-64. */
  term(word: string): string {
    return this.mac(`term ${word}`).readBigInt64BE(0).toString();
  }
}

/** Creates, finds and destroys the keys. They are never cached, so that a destroyed key is gone at once. */
export class ContentKeys {
  readonly #secretKey: string;
  readonly #run: RunStatement;

  constructor(secretKey: string, run: RunStatement) {
    this.#secretKey = secretKey;
    this.#run = run;
  }

  /** The user's key. Creates it if there is none. */
  async of(userId: string): Promise<ContentKey> {
    return (await this.find(userId)) ?? this.#create(userId);
  }

  async #create(userId: string): Promise<ContentKey> {
    const fresh = encryptSecret(
      this.#secretKey,
      randomBytes(KEY_BYTES).toString('base64'),
      locationOf(userId),
    );
    // Two control planes may create it at once: both read the key of the first.
    const [row] = await this.#run(sql`
      insert into content_key (user_id, sealed) values (${userId}, ${fresh})
      on conflict (user_id) do nothing returning sealed`);
    return row ? this.#opened(userId, row.sealed) : this.of(userId);
  }

  /** The user's key; undefined if there is none. Then the user has no readable content. */
  async find(userId: string): Promise<ContentKey | undefined> {
    const [row] = await this.#run(sql`select sealed from content_key where user_id = ${userId}`);
    return row && this.#opened(userId, row.sealed);
  }

  /** Destroys the keys of these users for ever. Repeating it changes nothing. */
  async destroy(...userIds: string[]): Promise<void> {
    await this.#run(sql`delete from content_key where user_id = any(${userIds}::text[])`);
  }

  /** Encrypts the keys of users again that are not under the current SECRET_KEY. */
  async reseal(): Promise<SealedCount> {
    const count = { ...NONE_SEALED };
    for (let last = ''; ;) {
      const rows = await this.#run(sql`
        select user_id as "userId", sealed from content_key where user_id > ${last}
        order by user_id limit ${RESEALED_AT_ONCE}`);
      for (const { userId = '', sealed } of rows) {
        count.total += 1;
        const fresh = resealed(this.#secretKey, sealed, locationOf(userId));
        if (fresh === 'UNREADABLE') count.unreadable += 1;
        else if (fresh !== 'CURRENT') {
          // A key that was destroyed meanwhile must not return.
          await this.#run(sql`
            update content_key set sealed = ${fresh.sealed}
            where user_id = ${userId} and sealed = ${sealed}`);
          count.moved += 1;
        }
      }
      if (rows.length < RESEALED_AT_ONCE) return count;
      last = rows.at(-1)?.userId ?? '';
    }
  }

  #opened(userId: string, sealed: string): ContentKey {
    return new ContentKey(Buffer.from(decryptSecret(this.#secretKey, sealed, locationOf(userId)), 'base64'));
  }
}

function locationOf(userId: string): SecretLocation {
  return { table: 'content_key', id: userId, field: 'sealed' };
}
