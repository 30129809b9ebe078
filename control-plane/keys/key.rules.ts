/** Validates the inputs of keys: name, group, addresses, expiry, limits, models, grace period. */
import ipaddr from 'ipaddr.js';
import type { Group } from '@gateway/shared/catalog';
import { UserFailure } from '../graphql/errors.ts';

const NAME_LENGTH_MAX = 80;
const ADDRESSES_MAX = 50;
const MODELS_MAX = 100;
/** 30 days. */
const GRACE_SECONDS_MAX = 30 * 24 * 60 * 60;

/** The trimmed name. Throws INVALID if it is empty or too long. */
export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed && trimmed.length <= NAME_LENGTH_MAX) return trimmed;
  throw new UserFailure('INVALID', `Give the key a name of at most ${NAME_LENGTH_MAX} characters.`, 'name');
}

/** The group. Throws GROUP_NOT_ALLOWED if the account may not use it. */
export function checkGroup(group: Group, allowed: readonly Group[]): Group {
  if (allowed.includes(group)) return group;
  throw new UserFailure(
    'GROUP_NOT_ALLOWED',
    'Your account may not use this billing group. Ask an administrator.',
    'group',
  );
}

/** IP addresses and CIDR blocks as unique CIDR blocks in canonical form. Throws INVALID, LIMIT_REACHED. */
export function checkAddresses(entries: readonly string[]): string[] {
  if (entries.length > ADDRESSES_MAX)
    throw new UserFailure('LIMIT_REACHED', `Enter at most ${ADDRESSES_MAX} addresses.`, 'allowedIps');
  return [...new Set(entries.map((entry) => blockOf(entry.trim())))];
}

/** The expiry. Throws INVALID if it is in the past. */
export function checkExpiry(expiresAt: Date | null): Date | null {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return expiresAt;
  throw new UserFailure('INVALID', 'The expiry is in the past. Choose a later time.', 'expiresAt');
}

/** The spend limit in micro-USD. Throws INVALID if it is not positive. */
export function checkSpendLimit(limit: bigint | null): bigint | null {
  if (limit === null || limit > 0n) return limit;
  throw new UserFailure('INVALID', 'Enter a spend limit above zero.', 'spendLimit');
}

/** The unique ids; null allows all models. Throws INVALID if the list is empty or too long. */
export function checkModelIds(ids: readonly string[] | null): string[] | null {
  if (ids === null) return null;
  const unique = [...new Set(ids)];
  if (unique.length >= 1 && unique.length <= MODELS_MAX) return unique;
  throw new UserFailure(
    'INVALID',
    `Choose 1 to ${MODELS_MAX} models, or leave the list out to allow every model.`,
    'allowedModelIds',
  );
}

/** The grace period in seconds. Throws INVALID outside 0 to 30 days. */
export function checkGrace(seconds: number): number {
  if (seconds >= 0 && seconds <= GRACE_SECONDS_MAX) return seconds;
  throw new UserFailure(
    'INVALID',
    `Choose a grace period of 0 to ${GRACE_SECONDS_MAX} seconds (30 days).`,
    'graceSeconds',
  );
}

/** The CIDR block of an address or block. Throws INVALID. */
function blockOf(entry: string): string {
  // ipaddr.js also accepts short and octal notations such as 010.1, which are easily misread.
  const strict = entry.includes(':') || /^\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/.test(entry);
  if (strict && ipaddr.isValidCIDR(entry)) {
    const [address, bits] = ipaddr.parseCIDR(entry);
    const network =
      address.kind() === 'ipv4'
        ? ipaddr.IPv4.networkAddressFromCIDR(entry)
        : ipaddr.IPv6.networkAddressFromCIDR(entry);
    return `${network.toString()}/${bits}`;
  }
  if (strict && ipaddr.isValid(entry)) {
    const address = ipaddr.process(entry);
    return `${address.toString()}/${address.kind() === 'ipv4' ? 32 : 128}`;
  }
  throw new UserFailure(
    'INVALID',
    `"${entry.slice(0, 60)}" is neither an IP address nor a CIDR block. Correct or remove it.`,
    'allowedIps',
  );
}
