/** The steps until the first request of an account: credit, a key, a tool. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { buttonClass } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import { ViewerQuery } from '../shell/viewer.ts';
import { ChecklistCard } from './checklist-card.tsx';

interface ChecklistProps {
  hasKey: boolean;
  /** The button that creates a key. */
  createKey: ReactNode;
}

/** The list. */
export function Checklist({ hasKey, createKey }: ChecklistProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ViewerQuery, requestPolicy: 'cache-only' });
  const hasCredit = /[1-9]/.test(data?.viewer?.wallet.available ?? '0');
  const wallet = (
    <Link to="/wallet" className={buttonClass({})}>
      {t('checklist.creditAction')}
    </Link>
  );
  const quickstart = (
    <Link to="/quickstart" className={buttonClass({ variant: hasKey ? 'primary' : 'neutral' })}>
      {t('checklist.requestAction')}
    </Link>
  );
  const steps = [
    { id: 'credit', words: t('checklist.credit'), done: hasCredit, action: wallet },
    { id: 'key', words: t('checklist.key'), done: hasKey, action: createKey },
    { id: 'request', words: t('checklist.request'), done: false, action: quickstart },
  ];
  return (
    <div className="mb-6">
      <ChecklistCard steps={steps} />
    </div>
  );
}
