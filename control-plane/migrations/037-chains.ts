/** Creates blockchains, their tokens, the watcher's progress, deposit addresses of users, and deposits. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A chain with the settings of its watcher, its progress and its last trouble. RPC addresses are encrypted,
 * because they often hold a key of the service. `cursor` is the last scanned block. A frozen chain credits
 * nothing until an administrator resumes it. One control plane at a time holds the claim.
 */
const CHAINS = `
  create table crypto_chain (
    chain_id bigint primary key check (chain_id > 0),
    name text not null,
    enabled boolean not null,
    confirmations integer not null check (confirmations between 1 and 1000),
    needs_finality boolean not null,
    start_block bigint not null check (start_block >= 0),
    explorer_url text,
    rpc_sealed text[] not null check (array_length(rpc_sealed, 1) = 2),
    rpc_hosts text[] not null check (array_length(rpc_hosts, 1) = 2),
    version integer not null default 1,
    cursor bigint,
    head bigint,
    scan_size integer not null default 2000,
    read_at timestamptz,
    trouble text,
    trouble_detail text,
    trouble_since timestamptz,
    frozen_at timestamptz,
    frozen_reason text,
    failures integer not null default 0,
    due_at timestamptz not null default now(),
    claim text,
    claimed_until timestamptz,
    created_at timestamptz not null default now()
  );
  create table crypto_block (
    chain_id bigint not null references crypto_chain,
    number bigint not null,
    hash text not null,
    primary key (chain_id, number)
  );
`;

/** A token that is accepted, pinned by contract and decimals. `minimum` is in micro-USD. */
const TOKENS = `
  create table crypto_token (
    chain_id bigint not null references crypto_chain,
    contract text not null check (contract ~ '^0x[0-9a-f]{40}$'),
    symbol text not null,
    decimals integer not null check (decimals between 6 and 18),
    minimum bigint not null check (minimum > 0),
    enabled boolean not null default true,
    primary key (chain_id, contract)
  );
  create unique index crypto_token_symbol on crypto_token (chain_id, symbol) where enabled;
`;

/**
 * Extended public keys, encrypted because whoever has one finds the addresses of all customers. At most one
 * is active and gives new addresses; addresses of the others stay watched. An index is used once.
 */
const ADDRESSES = `
  create table crypto_key (
    id text primary key,
    sealed text not null,
    fingerprint text not null unique,
    active boolean not null default true,
    next_index integer not null default 0 check (next_index >= 0),
    created_at timestamptz not null default now()
  );
  create unique index crypto_key_active on crypto_key (active) where active;
  create table crypto_address (
    address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
    user_id text not null references users,
    key_id text not null references crypto_key,
    index integer not null,
    created_at timestamptz not null default now(),
    unique (key_id, index),
    unique (key_id, user_id)
  );
  create index crypto_address_user on crypto_address (user_id);
  create table deposit_address (
    id text primary key,
    address text not null references crypto_address,
    chain_id bigint not null,
    contract text not null,
    created_at timestamptz not null default now(),
    unique (address, chain_id, contract),
    foreign key (chain_id, contract) references crypto_token
  );
`;

/**
 * A deposit is one transfer of a token to an address of a user. `place` counts equal transfers of one
 * transaction: the log index cannot identify a transfer, because it changes when the transaction is mined
 * again. `units` are the token's smallest units, `amount` micro-USD. The block is the one that held the
 * transfer last.
 */
const DEPOSITS = `
  create table crypto_deposit (
    reference text primary key,
    chain_id bigint not null references crypto_chain,
    contract text not null,
    address text not null references crypto_address,
    tx_hash text not null,
    place integer not null check (place >= 0),
    log_index integer not null,
    sender text not null,
    units numeric(78) not null check (units > 0),
    amount bigint not null check (amount > 0),
    state text not null check (state in ('SEEN', 'CONFIRMING', 'CREDITED', 'ORPHANED', 'REVERSED')),
    block_number bigint not null,
    block_hash text not null,
    reversals integer not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    foreign key (chain_id, contract) references crypto_token
  );
  create index crypto_deposit_block on crypto_deposit (chain_id, block_number);
  create index crypto_deposit_open on crypto_deposit (chain_id, address, contract)
    where state in ('SEEN', 'CONFIRMING');
`;

/** Creates the tables. */
export class Chains extends Migration {
  override up(): void {
    for (const statements of [CHAINS, TOKENS, ADDRESSES, DEPOSITS]) this.addSql(statements);
  }
}
