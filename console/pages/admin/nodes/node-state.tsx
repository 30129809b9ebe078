/** The state of a node as a word with an icon. */
import { CircleCheck, CircleDot, CircleMinus, CircleX, Hourglass, type LucideIcon } from 'lucide-react';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { useTranslation } from '../../../translation.ts';
import type { AdminNode } from './documents.ts';

const LOOKS: Record<AdminNode['state'] | 'RETIRED', { icon: LucideIcon; tone: Tone }> = {
  IN_SYNC: { icon: CircleCheck, tone: 'good' },
  LAGGING: { icon: Hourglass, tone: 'warn' },
  JOINING: { icon: CircleDot, tone: 'accent' },
  DRAINING: { icon: Hourglass, tone: 'accent' },
  OFFLINE: { icon: CircleX, tone: 'bad' },
  RETIRED: { icon: CircleMinus, tone: 'quiet' },
};

/** The state. */
export function NodeState({ node }: { node: Pick<AdminNode, 'state' | 'retired'> }) {
  const { t } = useTranslation();
  const state = node.retired ? 'RETIRED' : node.state;
  return <StateWord {...LOOKS[state]} word={t(`admin.nodes.states.${state}`)} />;
}
