/** The state of a pool and its period. */
import { CircleCheck, CircleMinus, Hourglass, type LucideIcon } from 'lucide-react';
import type { Tone } from '../../components/state-word.tsx';
import type { Pool } from './documents.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long after its end a pool keeps its subdomain and can be renewed, in ms. */
const KEPT_MS = 14 * DAY_MS;

const LOOKS: Record<Pool['state'], { icon: LucideIcon; tone: Tone }> = {
  ACTIVE: { icon: CircleCheck, tone: 'good' },
  EXPIRING: { icon: Hourglass, tone: 'warn' },
  EXPIRED: { icon: CircleMinus, tone: 'bad' },
  CANCELLED: { icon: CircleMinus, tone: 'quiet' },
};

/** Icon and colour of a state. */
export function lookOf(state: Pool['state']): { icon: LucideIcon; tone: Tone } {
  return LOOKS[state];
}

/** Whether the pool serves requests. */
export function isRunning({ state }: Pick<Pool, 'state'>): boolean {
  return state === 'ACTIVE' || state === 'EXPIRING';
}

/** Until when an ended pool can be renewed, in ms since 1970. */
export function keptUntil({ endsAt }: Pick<Pool, 'endsAt'>): number {
  return Date.parse(endsAt) + KEPT_MS;
}

/** Whether to offer another period. The service makes the final decision. */
export function isRenewable(pool: Pick<Pool, 'state' | 'endsAt'>, now: number): boolean {
  return pool.state !== 'CANCELLED' && keptUntil(pool) > now;
}

/** The time until `endsAt`: rounded days, or on the last day hours, rounded up. */
export function leftUntil(endsAt: string, now: number): { unit: 'days' | 'hours'; count: number } {
  const left = Math.max(0, Date.parse(endsAt) - now);
  if (left >= DAY_MS) return { unit: 'days', count: Math.round(left / DAY_MS) };
  return { unit: 'hours', count: Math.ceil(left / HOUR_MS) };
}
