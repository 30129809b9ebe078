/** Why a reply failed: what happened, what to do next, the code, and the id of the request. */
import { Link } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyField } from '../../components/copy.tsx';
import { useTranslation } from '../../translation.ts';
import type { ChatMessage } from './documents.ts';

interface FailedProps {
  message: ChatMessage;
  versions: ReactNode;
  onAgain: ((reply: ChatMessage, model: string) => void) | undefined;
}

/** The failure, in the place of the reply's actions. Long texts wrap and never push the buttons away. */
export function FailedReply({ message, versions, onAgain }: FailedProps) {
  const { t } = useTranslation();
  const { errorCode, error, requestId } = message;
  const heads = { LOST: t('playground.connectionLost'), NOT_STORED: t('playground.replyNotStored') };
  const isNamed = errorCode === 'LOST' || errorCode === 'NOT_STORED';
  return (
    <div role="alert" className="mt-2 flex flex-col gap-2 rounded-code bg-bad-soft px-4 py-3">
      <div className="flex items-start gap-2">
        <CircleAlert size={16} strokeWidth={1.75} className="mt-1 flex-none text-bad" aria-hidden="true" />
        <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <p className="font-[550]">{isNamed ? heads[errorCode] : t('playground.failed')}</p>
          {error !== null && error !== '' && errorCode !== 'NOT_STORED' && <p>{error}</p>}
          {errorCode === 'INSUFFICIENT_BALANCE' && (
            <Link to="/wallet" className="font-[550] text-accent underline touch:py-3">
              {t('playground.addCredit')}
            </Link>
          )}
        </div>
        {errorCode !== null && !isNamed && (
          <code className="flex-none text-hint text-ink-2">{errorCode}</code>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {onAgain && (
          <Button size="small" onClick={() => onAgain(message, message.modelName ?? '')}>
            {t('playground.retry')}
          </Button>
        )}
        {versions}
        {requestId !== null && <CopyField text={requestId} label={t('copy.requestId')} />}
      </div>
    </div>
  );
}
