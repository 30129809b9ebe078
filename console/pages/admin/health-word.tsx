/** How something does, in one word: an upstream, the database, the whole. */
import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import type { SystemHealth } from './health-documents.ts';

export type HealthStatus = SystemHealth['status'];

const LOOKS: Record<HealthStatus, { icon: LucideIcon; tone: Tone }> = {
  OK: { icon: CircleCheck, tone: 'good' },
  DEGRADED: { icon: TriangleAlert, tone: 'warn' },
  DOWN: { icon: CircleX, tone: 'bad' },
  UNKNOWN: { icon: CircleDashed, tone: 'quiet' },
};

/** The word, which says what the status means of this thing. */
export function HealthWord({ status, word }: { status: HealthStatus; word: string }) {
  return <StateWord {...LOOKS[status]} word={word} />;
}
