/** Creates the distributions of times by hour, and the traffic of upstreams and nodes. */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/**
 * Counts of requests by bucket of their time; see usage/timing.buckets.ts. Only succeeded requests have times
 * here. `counts` has one number for each of `buckets`. `usage_timing_all` adds up all wallets and keys.
 */
const TIMINGS = `
  create table usage_timing (
    wallet_id text not null,
    hour timestamptz not null,
    key_id text not null,
    model_name text not null,
    pool_id text not null,
    billing_group text not null,
    source text not null,
    measure text not null check (measure in ('DURATION', 'TTFT')),
    buckets smallint[] not null,
    counts integer[] not null check (cardinality(counts) = cardinality(buckets)),
    primary key (wallet_id, hour, key_id, model_name, pool_id, billing_group, source, measure)
  );
  create index usage_timing_key on usage_timing (key_id, hour);
  create index usage_timing_hour on usage_timing (hour);
  create table usage_timing_all (
    hour timestamptz not null,
    model_name text not null,
    pool_id text not null,
    billing_group text not null,
    source text not null,
    measure text not null check (measure in ('DURATION', 'TTFT')),
    buckets smallint[] not null,
    counts integer[] not null check (cardinality(counts) = cardinality(buckets)),
    primary key (hour, model_name, pool_id, billing_group, source, measure)
  );
`;

/**
 * `requests` and `failed` count attempts of an upstream, or requests of a node. `hour_summed` has the number
 * of rows of the usage log from which the sums of an hour were computed.
 */
const TRAFFIC = `
  create table traffic_hour (
    subject text not null check (subject in ('NODE', 'UPSTREAM')),
    hour timestamptz not null,
    subject_id text not null,
    requests integer not null check (requests > 0),
    failed integer not null check (failed between 0 and requests),
    primary key (hour, subject, subject_id)
  );
  create table traffic_timing (
    subject text not null check (subject in ('NODE', 'UPSTREAM')),
    hour timestamptz not null,
    subject_id text not null,
    measure text not null check (measure in ('DURATION', 'TTFT')),
    buckets smallint[] not null,
    counts integer[] not null check (cardinality(counts) = cardinality(buckets)),
    primary key (hour, subject, subject_id, measure)
  );
  create table hour_summed (
    hour timestamptz primary key,
    requests bigint not null check (requests >= 0)
  );
`;

/**
 * Creates the tables; a job fills them from the usage log. Later migrations, which usually run in the same
 * transaction, change tables of the ledger.
 */
export class Latency extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, TIMINGS, TRAFFIC]) this.addSql(part);
  }
}
