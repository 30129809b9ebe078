/** The state of a key, and the actions that it allows. */
import { parseDollars } from '@gateway/shared/money';
import { CircleAlert, CircleCheck, CircleMinus, Eye, RefreshCw, ShieldAlert } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Tone } from '../../components/state-word.tsx';
import type { Key } from './documents.ts';

export type KeyState =
  | 'ENABLED'
  | 'DISABLED'
  | 'ROTATING'
  | 'CAPPED'
  | 'NEVER_REVEALED'
  | NonNullable<Key['disabledReason']>;

type KeyFacts = Pick<
  Key,
  'state' | 'disabledReason' | 'revealedAt' | 'rotation' | 'spendLimit' | 'spentThisMonth'
>;

/** The state to show for a key: why it is disabled, or that it is rotating. */
export function stateOf(key: KeyFacts): KeyState {
  if (key.rotation?.pendingReveal === true) return 'NOT_REVEALED';
  if (isNeverRevealed(key)) return 'NEVER_REVEALED';
  if (key.state === 'DISABLED') return key.disabledReason ?? 'DISABLED';
  if (isCapped(key)) return 'CAPPED';
  return key.rotation ? 'ROTATING' : 'ENABLED';
}

/** Whether the key has reached its monthly cap: its requests fail with 402. */
export function isCapped({
  spendLimit,
  spentThisMonth,
}: Pick<Key, 'spendLimit' | 'spentThisMonth'>): boolean {
  if (spendLimit === null) return false;
  return (parseDollars(spentThisMonth) ?? 0n) >= (parseDollars(spendLimit) ?? 0n);
}

/** Whether the key can never work again. */
export function isFinal({ disabledReason }: Pick<Key, 'disabledReason'>): boolean {
  return disabledReason === 'LEAKED' || disabledReason === 'REVOKED';
}

/** Whether the key was revoked before it was revealed, which happens automatically after 7 days. */
export function isNeverRevealed(key: Pick<Key, 'disabledReason' | 'revealedAt'>): boolean {
  return key.disabledReason === 'REVOKED' && key.revealedAt === null;
}

/** Whether the secret can be revealed now. */
export function canReveal(key: Key): boolean {
  return stateOf(key) === 'NOT_REVEALED';
}

/** Whether the owner can enable the key: only keys that the owner disabled. */
export function canEnable(key: Key): boolean {
  return key.state === 'DISABLED' && key.disabledReason === 'OWNER';
}

/** Whether the key can be rotated: enabled, revealed, and not rotating yet. */
export function canRotate(key: Key): boolean {
  return key.state === 'ENABLED' && key.revealedAt !== null && !key.rotation;
}

/** Whether the old secret of a rotation still works. */
export function hasGrace(key: Key): boolean {
  return typeof key.rotation?.graceEndsAt === 'string';
}

/** The masked secret, such as "sk-ab…xyz9"; undefined if it was never revealed. */
export function maskedOf(key: Key): string | undefined {
  return key.revealedAt === null ? undefined : `${key.prefix}…${key.suffix}`;
}

const LOOKS: Record<KeyState, { icon: LucideIcon; tone: Tone }> = {
  ENABLED: { icon: CircleCheck, tone: 'good' },
  CAPPED: { icon: CircleAlert, tone: 'bad' },
  ROTATING: { icon: RefreshCw, tone: 'warn' },
  NOT_REVEALED: { icon: Eye, tone: 'accent' },
  NEVER_REVEALED: { icon: CircleMinus, tone: 'quiet' },
  DISABLED: { icon: CircleMinus, tone: 'quiet' },
  OWNER: { icon: CircleMinus, tone: 'quiet' },
  ADMIN: { icon: CircleMinus, tone: 'bad' },
  LEAKED: { icon: ShieldAlert, tone: 'bad' },
  REVOKED: { icon: ShieldAlert, tone: 'bad' },
  EXPIRED: { icon: CircleMinus, tone: 'quiet' },
  POOL_EXPIRED: { icon: CircleMinus, tone: 'warn' },
  OWNER_SUSPENDED: { icon: CircleMinus, tone: 'bad' },
};

/** Icon and colour of a state. */
export function lookOf(state: KeyState): { icon: LucideIcon; tone: Tone } {
  return LOOKS[state];
}
