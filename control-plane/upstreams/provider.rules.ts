/** What a provider may look like, checked before anything is stored. */
import type { DialectName } from '@gateway/shared/catalog';
import type { TimeoutsRecord } from '@gateway/shared/records';
import { UserFailure } from '../errors.ts';

const NAME_LENGTH_MAX = 80;
const HOUR_MS = 60 * 60 * 1000;

/** Long enough for a slow model, short enough to move on from a dead one; in ms. */
export const DEFAULT_TIMEOUTS: TimeoutsRecord = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 120_000,
  idleMs: 90_000,
  totalMs: 1_800_000,
};

export interface ProviderInput {
  id?: string | null;
  version?: number | null;
  name: string;
  protocols: DialectName[];
  baseUrl: string;
  enabled: boolean;
  timeouts?: Partial<TimeoutsRecord> | null;
  concurrencyLimit?: number | null;
  reason: string;
}

/** Throws INVALID, with the field, for a provider that cannot be. */
export function checkProvider(input: ProviderInput): void {
  checkLabel(input.name, 'name');
  if (input.protocols.length === 0)
    throw new UserFailure('INVALID', 'Name at least one protocol.', 'protocols');
  if (typeof input.concurrencyLimit === 'number' && input.concurrencyLimit < 1) {
    throw new UserFailure('INVALID', 'A limit on requests at once is at least 1.', 'concurrencyLimit');
  }
  for (const [name, value] of Object.entries(input.timeouts ?? {})) {
    if (value !== null && value !== undefined && (value < 1 || value > HOUR_MS)) {
      throw new UserFailure('INVALID', `${name} lies between 1 and ${HOUR_MS} ms.`, 'timeouts');
    }
  }
}

/** Throws INVALID for an empty or overlong name. */
export function checkLabel(text: string, field: string): void {
  if (text.trim() && text.trim().length <= NAME_LENGTH_MAX) return;
  throw new UserFailure('INVALID', `Give it a name of at most ${NAME_LENGTH_MAX} characters.`, field);
}

/** What is given, else what is known, else the defaults. */
export function timeoutsOf(
  given: Partial<TimeoutsRecord> | null | undefined,
  known: TimeoutsRecord | undefined,
): TimeoutsRecord {
  const named = Object.entries(given ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...DEFAULT_TIMEOUTS, ...known, ...Object.fromEntries(named) };
}
