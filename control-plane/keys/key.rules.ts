/**
 * What a key may look like: names, groups, addresses, dates and limits, checked before anything is stored.
 */
import ipaddr from 'ipaddr.js';
import type { Group } from '@gateway/shared/catalog';
import { UserFailure } from '../errors.ts';

const NAME_LENGTH_MAX = 80;
const ADDRESSES_MAX = 50;
const MODELS_MAX = 100;
/** A month: after that the old secret would hardly be watched any more. */
export const GRACE_SECONDS_MAX = 30 * 24 * 60 * 60;

/** The name without spaces around it. Throws INVALID. */
export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed && trimmed.length <= NAME_LENGTH_MAX) return trimmed;
  throw new UserFailure('INVALID', `Give the key a name of at most ${NAME_LENGTH_MAX} characters.`, 'name');
}

/** Throws GROUP_NOT_ALLOWED unless an administrator granted the group. */
export function checkGroup(group: Group, allowed: readonly Group[]): Group {
  if (allowed.includes(group)) return group;
  throw new UserFailure(
    'GROUP_NOT_ALLOWED',
    'Your account may not use this billing group. Ask an administrator.',
    'group',
  );
}

/**
 * Addresses and CIDR blocks as CIDR blocks in canonical form, without doubles. Throws INVALID, LIMIT_REACHED.
 */
export function checkAddresses(entries: readonly string[]): string[] {
  if (entries.length > ADDRESSES_MAX)
    throw new UserFailure('LIMIT_REACHED', `At most ${ADDRESSES_MAX} addresses.`, 'allowedIps');
  return [...new Set(entries.map((entry) => blockOf(entry.trim())))];
}

/** Throws INVALID for a moment that is past. */
export function checkExpiry(expiresAt: Date | null): Date | null {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return expiresAt;
  throw new UserFailure('INVALID', 'The key would expire in the past.', 'expiresAt');
}

/** Throws INVALID unless the limit is more than zero. */
export function checkSpendLimit(limit: bigint | null): bigint | null {
  if (limit === null || limit > 0n) return limit;
  throw new UserFailure('INVALID', 'A spend limit is more than zero.', 'spendLimit');
}

/** Throws INVALID for an empty list (leave it out to allow all) or an overlong one. */
export function checkModelIds(ids: readonly string[] | null): string[] | null {
  if (ids === null) return null;
  const unique = [...new Set(ids)];
  if (unique.length >= 1 && unique.length <= MODELS_MAX) return unique;
  throw new UserFailure(
    'INVALID',
    `Name 1 to ${MODELS_MAX} models, or none at all to allow every model.`,
    'allowedModelIds',
  );
}

/** Throws INVALID outside 0 to 30 days. */
export function checkGrace(seconds: number): number {
  if (seconds >= 0 && seconds <= GRACE_SECONDS_MAX) return seconds;
  throw new UserFailure(
    'INVALID',
    `The grace period lies between 0 and ${GRACE_SECONDS_MAX} seconds.`,
    'graceSeconds',
  );
}

function blockOf(entry: string): string {
  // ipaddr.js also takes shortened and octal notations, which people misread.
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
    `"${entry.slice(0, 60)}" is neither an address nor a CIDR block.`,
    'allowedIps',
  );
}
