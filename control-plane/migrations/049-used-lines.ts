/** Creates the table of the lines about the user that were sent with questions, one row per line. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A line is encrypted under the key of the user. Its text and the id of its item are erased as soon as the
 * item is deleted, by whatever statement, also by a control plane of an earlier release. Both are null then.
 */
const LINES = `
  create table personal_used_line (
    message_id text not null references conversation_message on delete cascade,
    position integer not null check (position >= 0),
    item_id text,
    kind text not null
      check (kind in ('DURABLE_ROUTINE', 'PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON')),
    sealed bytea,
    primary key (message_id, position),
    check ((item_id is null) = (sealed is null))
  );
  create index on personal_used_line (item_id) where item_id is not null;
  create function erase_used_lines() returns trigger language plpgsql as $$ begin
    update personal_used_line line set item_id = null, sealed = null from gone where line.item_id = gone.id;
    return null;
  end $$;
  create trigger used_lines_are_erased after delete on personal_item
    referencing old table as gone for each statement execute function erase_used_lines();
`;

/**
 * Earlier releases kept the lines in the text of the reply. A job moves them; `lines_moved` is false until
 * then.
 */
const MOVED = `
  alter table conversation_message add column lines_moved boolean not null default false;
  create index conversation_message_unmoved on conversation_message (id)
    where role = 'ASSISTANT' and not lines_moved;
`;

/** Creates the table, and the mark of replies whose lines are in it. */
export class UsedLines extends Migration {
  override up(): void {
    this.addSql(LINES);
    this.addSql(MOVED);
  }
}
