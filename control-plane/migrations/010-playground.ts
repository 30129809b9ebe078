/**
 * Creates the switches of Personal Intelligence, and the Playground chats that are stored while one is on.
 */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of the Playground. A chat belongs to a user and never to an API key. */
export class Playground extends Migration {
  override up(): void {
    this.addSql(`create table personal_switch (
      user_id text not null references users on delete cascade,
      kind text not null,
      enabled boolean not null,
      changed_at timestamptz not null,
      primary key (user_id, kind),
      check (kind in ('DURABLE_ROUTINE', 'PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON')))`);
    this.addSql(`create table conversation (
      id text primary key,
      user_id text not null references users on delete cascade,
      title text not null,
      model_name text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null)`);
    this.addSql('create index on conversation (user_id, updated_at desc, id desc)');
    this.addSql(`create table conversation_message (
      id text primary key,
      conversation_id text not null references conversation on delete cascade,
      parent_id text references conversation_message on delete cascade,
      role text not null,
      content text not null,
      reasoning text,
      attachments jsonb not null default '[]',
      state text not null,
      error_code text,
      error text,
      model_name text,
      request_id text,
      idempotency_key text,
      input_mac text,
      created_at timestamptz not null,
      unique (conversation_id, idempotency_key))`);
    this.addSql('create index on conversation_message (conversation_id, id)');
    // The database itself refuses new messages while all four switches are off.
    this.addSql(`create function refuse_unwanted_storing() returns trigger language plpgsql as $$ begin
      if not exists (select from personal_switch s where s.enabled and s.user_id =
          (select c.user_id from conversation c where c.id = new.conversation_id)) then
        raise exception 'every switch of Personal Intelligence is off: nothing is stored';
      end if;
      return new;
    end $$`);
    this.addSql(`create trigger storing_is_wanted before insert on conversation_message
      for each row execute function refuse_unwanted_storing()`);
  }
}
