/** Rows of the usage log with every kind of value, for tests of the archive. */
import fc from 'fast-check';
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../control-plane/database/ids.ts';
import { query, sql } from '../../control-plane/database/sql.ts';

const INTEGER_MAX = 2_147_483_647;
const BIGINT_MAX = 2n ** 63n - 1n;
/** Sums of many such values fit into a bigint. */
const SUMMED_MAX = 2n ** 40n;

/** A row as PostgreSQL takes it; `atMicros` counts from the start of its partition. */
export interface RandomRow {
  atMicros: number;
  columns: Record<string, string | number | boolean | null>;
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const word = fc.constantFrom('swift', 'budget', 'flagship-max');
const integer = fc.nat(INTEGER_MAX);
const bigint = (max: bigint) => fc.bigInt(0n, max).map(String);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const attempts = fc
  .array(fc.record({ routeId: text, outcome: fc.constant('UPSTREAM_FAILED'), ms: integer }), { maxLength: 3 })
  .map((list) => JSON.stringify(list));

/** Random rows of a day. */
export const randomRow: fc.Arbitrary<RandomRow> = fc.record({
  atMicros: fc.nat(86_399_999_999),
  columns: fc.record({
    ...{ node_id: text, key_id: text, pool_id: maybe(text), billing_group: word },
    ...{
      source: word,
      model_name: text,
      family: word,
      route_id: maybe(text),
      base_price: bigint(BIGINT_MAX),
    },
    ...{
      ratio: fc.constantFrom('1', '0.85'),
      cost: bigint(SUMMED_MAX),
      input_tokens: maybe(bigint(SUMMED_MAX)),
    },
    ...{ output_tokens: maybe(bigint(SUMMED_MAX)), cached_tokens: maybe(bigint(SUMMED_MAX)) },
    ...{ reasoning_tokens: maybe(bigint(SUMMED_MAX)), status: word, outcome: word },
    ...{ http_status: fc.nat(999), error_code: maybe(text), streamed: fc.boolean(), latency_ms: integer },
    ...{ ttft_ms: maybe(integer), ip: maybe(fc.oneof(fc.ipV4(), fc.ipV6())), losses_in_answer: integer },
    ...{ attempts: maybe(attempts), attempts_omitted: maybe(integer), repeats: integer },
  }),
});

/** A day as `2024-05-01`, with its rows and the wallet that they name. */
interface FilledDay {
  day: string;
  walletId: string;
  rows: readonly RandomRow[];
}

/** Creates the partition of a past day and fills it, as the owner of the database. Returns its name. */
export async function fillDay(em: EntityManager, { day: date, walletId, rows }: FilledDay): Promise<string> {
  const day = `${date} 00:00:00+00`;
  await query(
    em,
    sql`select usage_make_partitions(${day}::timestamptz, ${day}::timestamptz + interval '1 hour', 'day')`,
  );
  const lines = rows.map(({ columns, atMicros }) => ({
    ...{
      ...columns,
      attempts: columns['attempts'] === null ? null : JSON.parse(String(columns['attempts'])),
    },
    ...{ wallet_id: walletId, id: newId('use'), request_id: newId('use'), at_micros: atMicros },
  }));
  await query(
    em,
    sql`insert into usage_entry select (jsonb_populate_record(null::usage_entry, line || jsonb_build_object(
        'at', ${day}::timestamptz + (line->>'at_micros')::bigint * interval '1 microsecond',
        'recorded_at', ${day}::timestamptz + interval '1.000001 days'))).*
      from jsonb_array_elements(${JSON.stringify(lines)}::jsonb) as line`,
  );
  return `usage_entry_${date.replaceAll('-', '_')}`;
}
