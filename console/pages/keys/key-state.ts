/** What a key may do now and what may be done with it. */
import { CircleCheck, CircleMinus, Eye, RefreshCw, ShieldAlert } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Tone } from '../../components/state-word.tsx';
import type { Key } from './documents.ts';

export type KeyState =
  | 'ENABLED'
  | 'DISABLED'
  | 'ROTATING'
  | 'NEVER_REVEALED'
  | NonNullable<Key['disabledReason']>;

type KeyFacts = Pick<Key, 'state' | 'disabledReason' | 'revealedAt' | 'rotation'>;

/**
 * The one word for the state of a key: why it is disabled, or whether an old secret still works beside the
 * new one.
 */
export function stateOf(key: KeyFacts): KeyState {
  if (key.rotation?.pendingReveal === true) return 'NOT_REVEALED';
  if (isNeverRevealed(key)) return 'NEVER_REVEALED';
  if (key.state === 'DISABLED') return key.disabledReason ?? 'DISABLED';
  return key.rotation ? 'ROTATING' : 'ENABLED';
}

/** Whether it was revoked before anybody had its secret, as happens by itself after 7 days. */
export function isNeverRevealed(key: Pick<Key, 'disabledReason' | 'revealedAt'>): boolean {
  return key.disabledReason === 'REVOKED' && key.revealedAt === null;
}

/** Whether the secret can be revealed now. */
export function canReveal(key: Key): boolean {
  return stateOf(key) === 'NOT_REVEALED';
}

/** Owners enable again only what they disabled themselves. */
export function canEnable(key: Key): boolean {
  return key.state === 'DISABLED' && key.disabledReason === 'OWNER';
}

/** Whether a secret exists that can be replaced. */
export function canRotate(key: Key): boolean {
  return key.state === 'ENABLED' && key.revealedAt !== null && !key.rotation;
}

/** Whether the secret that a rotation replaced works for a while yet. */
export function hasGrace(key: Key): boolean {
  return typeof key.rotation?.graceEndsAt === 'string';
}

/** The masked key as people recognise it; undefined while no secret exists. */
export function maskedOf(key: Key): string | undefined {
  return key.revealedAt === null ? undefined : `${key.prefix}…${key.suffix}`;
}

const LOOKS: Record<KeyState, { icon: LucideIcon; tone: Tone }> = {
  ENABLED: { icon: CircleCheck, tone: 'good' },
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

/** Icon and tone of a state. */
export function lookOf(state: KeyState): { icon: LucideIcon; tone: Tone } {
  return LOOKS[state];
}
