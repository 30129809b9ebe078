/** Adds the position of a message among those of its chat; keeps ciphertexts out of the statistics. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Ids of messages begin with a time, so after a clock was put back they do not sort by creation. Earlier rows
 * have no position and precede all others, because a position for each of them would rewrite the table.
 */
const POSITIONS = `
  create sequence conversation_message_position;
  alter table conversation_message add column position bigint;
  alter table conversation_message alter column position set default nextval('conversation_message_position');
`;

/**
 * ANALYZE copies values of a column into the statistics of the planner, where the values would outlive their
 * rows. No query compares ciphertexts, so the planner needs no statistics of them. ALTER COLUMN TYPE deletes
 * the present statistics of a column. It rewrites no table, because the type stays the same.
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
