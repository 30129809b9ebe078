/** Adds the position of a message among those of its chat, which no clock decides. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Ids of messages begin with a time, so that they do not sort by creation after a clock was put back. Rows of
 * before have no position and precede all others: giving them one would rewrite the table.
 */
const POSITIONS = `
  create sequence conversation_message_position;
  alter table conversation_message add column position bigint;
  alter table conversation_message alter column position set default nextval('conversation_message_position');
`;

/** Creates the column and its sequence. */
export class MessagePositions extends Migration {
  override up(): void {
    this.addSql(POSITIONS);
  }
}
