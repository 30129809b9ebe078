/** Creates the table of what reading the chats of one user cost, so that no user takes the budget of all. */
import { Migration } from '@mikro-orm/migrations';

/** Micro-USD by user and calendar month in UTC. */
const SHARE = `
  create table personal_share (
    user_id text not null references users on delete cascade,
    month date not null,
    spent bigint not null,
    primary key (user_id, month)
  );
  create index on personal_share (month);
`;

/** Creates the table. */
export class PersonalShare extends Migration {
  override up(): void {
    this.addSql(SHARE);
  }
}
