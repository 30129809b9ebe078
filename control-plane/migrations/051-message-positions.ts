/** Adds the position of a message among those of its chat; keeps ciphertexts out of the statistics. */
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

/**
 * ANALYZE copies values of a column into the statistics of the planner, where they would outlive their rows.
 * Nothing is ever compared with a ciphertext, so the planner loses nothing. Setting the same type again
 * deletes the present statistics of a column, and rewrites no table.
 */
const NO_STATISTICS = `
  alter table conversation alter column title_sealed type bytea,
    alter column title_sealed set statistics 0;
  alter table conversation_message alter column sealed type bytea,
    alter column sealed set statistics 0;
  alter table conversation_message alter column pictures_sealed type bytea,
    alter column pictures_sealed set statistics 0;
  alter table personal_item alter column sealed type bytea,
    alter column sealed set statistics 0;
  alter table personal_learned alter column replaced_sealed type bytea,
    alter column replaced_sealed set statistics 0;
  alter table personal_used_line alter column sealed type bytea,
    alter column sealed set statistics 0;
  alter table content_key alter column sealed type text,
    alter column sealed set statistics 0;
`;

/** Creates the column and its sequence, and excludes ciphertexts from statistics. */
export class MessagePositions extends Migration {
  override up(): void {
    this.addSql(POSITIONS);
    this.addSql(NO_STATISTICS);
  }
}
