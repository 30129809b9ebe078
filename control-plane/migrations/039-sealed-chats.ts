/** Creates the keys of users under which chats are encrypted, and the columns of encrypted chats. */
import { Migration } from '@mikro-orm/migrations';

/**
 * One key per user, itself encrypted under SECRET_KEY. It has no foreign key, because an installation may
 * keep this table in a database of its own, so that backups of chats hold no keys.
 */
export const CONTENT_KEYS = `
  create table if not exists content_key (
    user_id text primary key,
    sealed text not null,
    created_at timestamptz not null default now()
  );
`;

/**
 * Encrypted text and pictures of messages, and encrypted titles. Rows of earlier releases have none of them
 * until the job "sealing of chats" has encrypted them and emptied their plain columns.
 */
const SEALED = `
  alter table conversation add column title_sealed bytea;
  alter table conversation alter column title set default '';
  alter table conversation_message add column sealed bytea;
  alter table conversation_message add column pictures_sealed bytea;
  alter table conversation_message alter column content set default '';
  create index conversation_plain on conversation (id) where title <> '';
  create index conversation_message_plain on conversation_message (id) where sealed is null;
`;

/** Chats are encrypted under a key of their user. */
export class SealedChats extends Migration {
  override up(): void {
    this.addSql(CONTENT_KEYS);
    this.addSql(SEALED);
  }
}
