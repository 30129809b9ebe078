/** How large stored chats are: their user has so much room, and no more. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Counted as messages are written: to add all of them up before each new one would read them all. Of those
 * that are there the sizes alone are looked at, so that it is quick.
 */
const SIZES = `
  alter table conversation add column bytes bigint not null default 0;
  update conversation c set bytes = m.bytes
  from (
    select conversation_id, sum(octet_length(content) + coalesce(octet_length(reasoning), 0)
      + pg_column_size(attachments)) as bytes
    from conversation_message group by conversation_id
  ) m where m.conversation_id = c.id;
`;

/** Gives each chat its size. */
export class ChatSizes extends Migration {
  override up(): void {
    this.addSql(SIZES);
  }
}
