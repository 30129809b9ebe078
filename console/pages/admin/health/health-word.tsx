/** A health status with its icon and colour, for upstreams, the database and the whole gateway. */
import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import type { SystemHealth } from './documents.ts';

export type HealthStatus = SystemHealth['status'];

const LOOKS: Record<HealthStatus, { icon: LucideIcon; tone: Tone }> = {
  OK: { icon: CircleCheck, tone: 'good' },
  DEGRADED: { icon: TriangleAlert, tone: 'warn' },
  DOWN: { icon: CircleX, tone: 'bad' },
  UNKNOWN: { icon: CircleDashed, tone: 'quiet' },
};

/** The status. `word` names it; names differ between objects. */
export function HealthWord({ status, word }: { status: HealthStatus; word: string }) {
  return <StateWord {...LOOKS[status]} word={word} />;
}
