/** The reason why an administrator should look at a top-up, as text. */
import { TriangleAlert } from 'lucide-react';
import { StateWord } from '../../../components/state-word.tsx';
import { useTranslation } from '../../../translation.ts';
import type { AdminTopUp } from './documents.ts';

/** The service counts a payment as stuck that is open for longer than this, in ms. */
const STUCK_MS = 2 * 3_600_000;
const OPEN: readonly AdminTopUp['state'][] = [
  'CREATED',
  'AWAITING_PAYMENT',
  'SEEN',
  'CONFIRMING',
  'ORPHANED',
];

/** The issue; OVERDUE for a payment that is open for too long, null if nothing is wrong. */
export function issueOf({ issue, state, createdAt }: AdminTopUp, now: number) {
  if (issue !== null) return issue;
  return OPEN.includes(state) && now - Date.parse(createdAt) > STUCK_MS ? 'OVERDUE' : null;
}

/** The issue as a sentence; nothing without one. */
export function IssueWords({ topUp }: { topUp: AdminTopUp }) {
  const { t } = useTranslation();
  const issue = issueOf(topUp, Date.now());
  if (issue === null) return null;
  return <StateWord icon={TriangleAlert} tone="warn" breaks word={t(`payments.issues.${issue}`)} />;
}
