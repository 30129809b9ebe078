/** Creates what Personal Intelligence learns: items with sources and words, and the jobs that learn them. */
import { Migration } from '@mikro-orm/migrations';

/**
 * An item, encrypted under the key of its user. `text_mac` finds equal texts. A summary belongs to one chat.
 * Terms are keyed hashes of words, so that ranking needs no plain text. A chat belongs to a user and never to
 * an API key, and each source is a message of a chat: API traffic cannot enter.
 */
const ITEMS = `
  create table personal_item (
    id text primary key,
    user_id text not null references users on delete cascade,
    kind text not null
      check (kind in ('DURABLE_ROUTINE', 'PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON')),
    origin text not null check (origin in ('DERIVED', 'EDITED', 'USER_ADDED')),
    sealed bytea not null,
    text_mac bytea not null,
    terms integer not null check (terms >= 0),
    confidence numeric(3, 2) check (confidence between 0 and 1),
    pinned boolean not null default false,
    suppressed boolean not null default false,
    first_seen_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz,
    times_used integer not null default 0,
    version integer not null default 1,
    prompt_version text,
    conversation_id text unique references conversation on delete set null,
    unique (user_id, kind, text_mac)
  );
  create table personal_item_source (
    item_id text not null references personal_item on delete cascade,
    conversation_id text not null references conversation on delete cascade,
    message_id text not null references conversation_message on delete cascade,
    primary key (item_id, message_id)
  );
  create index on personal_item_source (conversation_id);
  create index on personal_item_source (message_id);
  create table personal_item_term (
    user_id text not null,
    term bigint not null,
    item_id text not null references personal_item on delete cascade,
    count integer not null check (count > 0),
    primary key (user_id, term, item_id)
  );
  create index on personal_item_term (item_id);
`;

/** Hashes of the words of deleted items, which are not learned again. */
const FORGOTTEN = `
  create table personal_forgotten (
    user_id text not null references users on delete cascade,
    text_mac bytea not null,
    terms bigint[] not null,
    created_at timestamptz not null default now(),
    primary key (user_id, text_mac)
  );
`;

/**
 * At most one job per chat. A job runs when its chat was quiet for a while. A job that failed too often is
 * quarantined until the chat continues. The column derived_through is the last message that was read.
 */
const JOBS = `
  alter table conversation add column derived_through text;
  create table personal_job (
    conversation_id text primary key references conversation on delete cascade,
    user_id text not null,
    queued_at timestamptz not null,
    run_after timestamptz not null,
    tries integer not null default 0,
    claim text,
    claimed_until timestamptz,
    quarantined_at timestamptz,
    reason text
  );
  create index on personal_job (run_after) where quarantined_at is null;
  create index on personal_job (user_id);
`;

/** The model that reads chats, the budget in micro-USD per month, and the upstreams that may see items. */
const SETTINGS = `
  create table personal_settings (
    id integer primary key check (id = 1),
    model_name text,
    monthly_budget bigint not null check (monthly_budget >= 0),
    provider_ids text[],
    version integer not null default 1
  );
  insert into personal_settings (id, monthly_budget) values (1, 10000000);
  create table personal_budget (
    month date primary key,
    spent bigint not null,
    calls integer not null
  );
`;

/** Creates the tables of Personal Intelligence. */
export class PersonalItems extends Migration {
  override up(): void {
    for (const part of [ITEMS, FORGOTTEN, JOBS, SETTINGS]) this.addSql(part);
  }
}
