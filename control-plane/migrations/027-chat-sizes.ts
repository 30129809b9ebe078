/** Adds the size of each stored chat in bytes, for the limit per user. */
import { Migration } from '@mikro-orm/migrations';

/**
 * The size is updated with each new message, so that messages need not be summed up each time. Existing
 * messages are measured without reading their contents.
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

/** Adds the column and fills it for existing chats. */
export class ChatSizes extends Migration {
  override up(): void {
    this.addSql(SIZES);
  }
}
