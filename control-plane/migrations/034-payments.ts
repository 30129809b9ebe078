/**
 * Creates payments: top-ups with their refunds and disputes, events of the processor, automatic top-ups, and
 * the settings of payments by card.
 */
import { Migration } from '@mikro-orm/migrations';

/**
 * Amounts are in micro-USD. `stage` is the progress before the money arrives; `state` follows from the stage,
 * the paid amount, refunds and disputes. `credits` counts the credits, as a chain may take one back.
 */
const TOP_UPS = `
  create table top_up (
    id text primary key,
    user_id text not null references users,
    wallet_id text not null references wallet,
    method text not null check (method in ('CARD', 'CRYPTO')),
    automatic boolean not null default false,
    stage text not null check (stage in
      ('CREATED', 'AWAITING_PAYMENT', 'SEEN', 'CONFIRMING', 'ORPHANED', 'EXPIRED', 'FAILED')),
    state text not null check (state in ('CREATED', 'AWAITING_PAYMENT', 'SEEN', 'CONFIRMING', 'CREDITED',
      'FAILED', 'EXPIRED', 'ORPHANED', 'PARTIALLY_REFUNDED', 'REFUNDED', 'DISPUTED')),
    amount bigint not null check (amount > 0),
    paid bigint check (paid > 0),
    credits integer not null default 0 check (credits >= 0),
    credited bigint not null default 0 check (credited >= 0),
    refunded bigint not null default 0 check (refunded >= 0),
    issue text,
    reference text unique,
    session_id text unique,
    payment_id text unique,
    save_card boolean not null default false,
    return_path text,
    checkout_url text,
    receipt_url text,
    failure_code text,
    failure_message text,
    expires_at timestamptz,
    check_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    check ((method = 'CRYPTO') = (reference is not null))
  );
  create index top_up_wallet on top_up (wallet_id, id);
  create index top_up_user_day on top_up (user_id, created_at);
  create index top_up_check on top_up (check_at) where check_at is not null;
  create index top_up_issue on top_up (id) where issue is not null;
  create index top_up_open on top_up (state, id)
    where state in ('CREATED', 'AWAITING_PAYMENT', 'SEEN', 'CONFIRMING', 'ORPHANED');
  -- One automatic attempt per wallet, whichever control plane begins it.
  create unique index top_up_automatic on top_up (wallet_id)
    where automatic and stage in ('CREATED', 'AWAITING_PAYMENT') and paid is null;
`;

/**
 * A refund or dispute may be reported before its payment, so `payment_id` finds it and `top_up_id` may be
 * null until then.
 */
const TAKEN_BACK = `
  create table top_up_refund (
    id text primary key,
    processor_id text,
    payment_id text,
    top_up_id text references top_up,
    amount bigint not null check (amount > 0),
    status text not null check (status in ('REQUESTED', 'PENDING', 'SUCCEEDED', 'FAILED')),
    reason text,
    requested_by text,
    failure_message text,
    check_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    check (payment_id is not null or top_up_id is not null)
  );
  create index top_up_refund_top_up on top_up_refund (top_up_id);
  create index top_up_refund_payment on top_up_refund (payment_id);
  create index top_up_refund_check on top_up_refund (check_at) where check_at is not null;
  create table top_up_dispute (
    id text primary key,
    payment_id text,
    top_up_id text references top_up,
    amount bigint not null check (amount > 0),
    status text not null check (status in ('NOTICE', 'OPEN', 'LOST', 'WON')),
    reason text,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    check (payment_id is not null or top_up_id is not null)
  );
  create index top_up_dispute_top_up on top_up_dispute (top_up_id);
  create index top_up_dispute_payment on top_up_dispute (payment_id);
`;

/**
 * Events of the processor by their ids, so that a repeated one changes nothing. They hold no personal data.
 */
const EVENTS = `
  create table payment_event (
    id text primary key,
    type text not null,
    top_up_id text,
    outcome text not null check (outcome in ('APPLIED', 'IGNORED', 'UNMATCHED')),
    received_at timestamptz not null default clock_timestamp()
  );
  create index payment_event_top_up on payment_event (top_up_id) where top_up_id is not null;
  create index payment_event_age on payment_event (received_at);
`;

/** The saved card of a wallet, and when it pays by itself. */
const AUTOMATIC = `
  create table auto_top_up (
    wallet_id text primary key references wallet,
    enabled boolean not null default false,
    threshold bigint not null check (threshold >= 0),
    amount bigint not null check (amount > 0),
    monthly_cap bigint not null check (monthly_cap >= amount),
    failures integer not null default 0 check (failures >= 0),
    off_reason text,
    changed_at timestamptz not null default clock_timestamp()
  );
  create index auto_top_up_enabled on auto_top_up (wallet_id) where enabled;
  create table saved_card (
    wallet_id text primary key references wallet,
    customer_id text not null,
    method_id text not null,
    brand text not null,
    last4 text not null,
    expires_month integer not null,
    expires_year integer not null,
    created_at timestamptz not null default clock_timestamp()
  );
`;

/** A single row. Secrets are sealed; `api_origin` is the only origin to which the key is sent. */
const SETTINGS = `
  create table payment_settings (
    id integer primary key default 1 check (id = 1),
    card_enabled boolean not null default false,
    api_address text not null default 'https://api.stripe.com',
    api_key text,
    api_key_suffix text,
    api_origin text,
    managed_payments boolean not null default false,
    automatic_tax boolean not null default false,
    stablecoins boolean not null default false,
    tax_code text,
    amount_min bigint not null default 5000000 check (amount_min > 0),
    amount_max bigint not null default 1000000000 check (amount_max >= amount_min),
    daily_max bigint not null default 2000000000 check (daily_max >= amount_max),
    presets bigint[] not null default '{10000000,25000000,100000000,250000000}',
    play_money boolean not null default false,
    reconciled_at timestamptz,
    balance_checked_to timestamptz,
    last_error text,
    last_error_at timestamptz,
    last_success_at timestamptz,
    changed_at timestamptz not null default clock_timestamp(),
    version integer not null default 1
  );
  insert into payment_settings default values;
  create table payment_webhook_secret (
    id text primary key,
    label text not null,
    suffix text not null,
    sealed text not null,
    created_at timestamptz not null default clock_timestamp()
  );
  create table payment_correction (
    id text primary key,
    top_up_id text,
    kind text not null,
    detail text not null,
    amount bigint,
    found_at timestamptz not null default clock_timestamp()
  );
  create index payment_correction_found on payment_correction (found_at);
`;

/** Creates the tables. */
export class Payments extends Migration {
  override up(): void {
    for (const part of [TOP_UPS, TAKEN_BACK, EVENTS, AUTOMATIC, SETTINGS]) this.addSql(part);
  }
}
