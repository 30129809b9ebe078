/** Validates changes of providers before they are stored. */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { TimeoutsRecord } from '@gateway/shared/records';
import { UserFailure } from '../graphql/errors.ts';
import type { AccessInput } from './access.rules.ts';
import type { QuirkInput } from './quirk.rules.ts';
import type { ProviderRow } from './upstream.entity.ts';

const NAME_LENGTH_MAX = 80;
const HOUR_MS = 60 * 60 * 1000;

/** Default timeouts in ms: long enough for slow models, short enough to fail over from a dead upstream. */
export const DEFAULT_TIMEOUTS: TimeoutsRecord = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 120_000,
  idleMs: 90_000,
  totalMs: 1_800_000,
};

/** A new provider, or a change of the one with this `id` and `version`. */
export interface ProviderInput {
  id?: string | null;
  /** ANY for a change that does not depend on earlier values. */
  version?: number | 'ANY' | null;
  name: string;
  protocols: ProtocolName[];
  baseUrl: string;
  enabled: boolean;
  timeouts?: Partial<TimeoutsRecord> | null;
  concurrencyLimit?: number | null;
  /** Undefined leaves it unchanged; null is an API key in the header of the format. */
  access?: AccessInput | null;
  /** Undefined and null leave them unchanged. */
  quirks?: readonly QuirkInput[] | null;
  reason: string;
}

/** Throws INVALID with the name of the field if the input is not valid. */
export function checkProvider(input: ProviderInput): void {
  checkLabel(input.name, 'name');
  if (input.protocols.length === 0)
    throw new UserFailure('INVALID', 'Choose at least one protocol.', 'protocols');
  if (typeof input.concurrencyLimit === 'number' && input.concurrencyLimit < 1) {
    throw new UserFailure(
      'INVALID',
      'Enter a concurrency limit of at least 1, or leave it empty.',
      'concurrencyLimit',
    );
  }
  for (const [name, value] of Object.entries(input.timeouts ?? {})) {
    if (value !== null && value !== undefined && (value < 1 || value > HOUR_MS)) {
      throw new UserFailure('INVALID', `Set ${name} to a value from 1 to ${HOUR_MS} ms.`, 'timeouts');
    }
  }
}

/** Throws INVALID if a name is empty or too long. */
export function checkLabel(text: string, field: string): void {
  if (text.trim() && text.trim().length <= NAME_LENGTH_MAX) return;
  throw new UserFailure('INVALID', `Enter a name of 1 to ${NAME_LENGTH_MAX} characters.`, field);
}

/** The changed timeouts; those that `change` leaves out are taken from `current`, else from the defaults. */
export function timeoutsOf(
  change: Partial<TimeoutsRecord> | null | undefined,
  current: TimeoutsRecord | undefined,
): TimeoutsRecord {
  const changed = Object.entries(change ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...DEFAULT_TIMEOUTS, ...current, ...Object.fromEntries(changed) };
}

/** A provider as the audit log shows it. */
export function summaryOf({
  name,
  protocols,
  baseUrl,
  enabled,
  timeouts,
  concurrencyLimit = null,
  access = null,
  quirks,
}: ProviderRow): Record<string, unknown> {
  return { name, protocols, baseUrl, enabled, timeouts, concurrencyLimit, access, quirks };
}
