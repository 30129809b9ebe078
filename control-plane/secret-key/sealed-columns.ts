/** Every column of the main database with values that are encrypted under SECRET_KEY and stay. */
import type { SecretLocation } from '../upstreams/stored-secrets.ts';

/** A column of sealed values. The names are part of statements, so they are never input. */
export interface SealedColumn {
  table: string;
  /** The primary key. */
  id: string;
  /** The sealed value: a column, or an element of one. */
  value: string;
  /** The location to which the value of the row with this id is bound. */
  locate(id: string): SecretLocation;
}

const at =
  (table: string, field: string) =>
  (id: string): SecretLocation => ({ table, id, field });

/** Not listed: the sealed value of a sign-in at an identity provider, which is deleted after ten minutes. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'credential', id: 'id', value: 'sealed', locate: at('credential', 'secret') },
  { table: 'totp_factor', id: 'user_id', value: 'sealed_secret', locate: at('totp_factor', 'secret') },
  { table: 'payment_settings', id: 'id', value: 'api_key', locate: at('payment_settings', 'api_key') },
  {
    table: 'payment_webhook_secret',
    id: 'id',
    value: 'sealed',
    locate: at('payment_webhook_secret', 'secret'),
  },
  ...(['sealed_secret', 'previous_sealed'] as const).map((value) => ({
    table: 'webhook_endpoint',
    id: 'id',
    value,
    locate: at('webhook_endpoint', value),
  })),
  { table: 'state_key', id: 'id', value: 'sealed', locate: at('state_key', 'key') },
  { table: 'crypto_key', id: 'id', value: 'sealed', locate: at('crypto_key', 'extended_key') },
  { table: 'crypto_chain', id: 'chain_id', value: 'rpc_sealed[1]', locate: at('crypto_chain', 'rpc_0') },
  { table: 'crypto_chain', id: 'chain_id', value: 'rpc_sealed[2]', locate: at('crypto_chain', 'rpc_1') },
];
