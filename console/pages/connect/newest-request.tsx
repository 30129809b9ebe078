/** The newest request of a key and its cost. It appears by itself. */
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX, Hourglass } from 'lucide-react';
import { useState } from 'react';
import { useQuery, useSubscription } from 'urql';
import { useDurationText } from '../../components/duration.ts';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Rich } from '../../components/rich.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { NewUsage, type UsageRow } from '../usage/documents.ts';
import { NewestRequest } from './documents.ts';

/** The request, or that the page waits for it. `tool` is the name of the tool that sends it. */
export function Newest({ keyId, tool }: { keyId: string; tool: string }) {
  const { t } = useTranslation();
  const { row, isNew } = useNewest(keyId);
  return (
    <div role="status">
      {row ? (
        <Request row={row} tool={isNew ? tool : undefined} />
      ) : (
        <>
          <p className="flex items-center gap-2.5">
            <Hourglass size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
            {t('quickstart.waiting')}
          </p>
          <p className="pl-[26px] text-hint text-ink-3">{t('quickstart.waitingNote')}</p>
        </>
      )}
    </div>
  );
}

/** The newest request, and whether it arrived while the page was open. */
function useNewest(keyId: string): { row: UsageRow | undefined; isNew: boolean } {
  const [arrived, setArrived] = useState<UsageRow>();
  const [{ data }] = useQuery({ query: NewestRequest, variables: { keyId } });
  useSubscription({ query: NewUsage }, (_, data) => {
    const row = data.usageAdded;
    if (row?.keyId === keyId) setArrived(row);
    return data;
  });
  if (arrived?.keyId === keyId) return { row: arrived, isNew: true };
  return { row: data?.viewer?.usage.nodes[0], isNew: false };
}

interface RequestProps {
  row: UsageRow;
  /** The tool that has just sent the request; undefined for an earlier request. */
  tool: string | undefined;
}

function Request({ row, tool }: RequestProps) {
  const { t } = useTranslation();
  const succeeded = row.status === 'SUCCEEDED';
  const Icon = succeeded ? CircleCheck : CircleX;
  const text = tool === undefined ? t('quickstart.last') : t('quickstart.works', { name: tool });
  const marks = { cost: () => <Money amount={row.cost} className="font-semibold" /> };
  return (
    <>
      <p className="flex items-start gap-2.5 text-section">
        <Icon
          size={20}
          strokeWidth={1.75}
          className={`mt-0.5 flex-none ${succeeded ? 'text-good' : 'text-bad'}`}
          aria-hidden="true"
        />
        <span>
          {succeeded ? <Rich text={text} marks={marks} /> : t('quickstart.free', { status: row.httpStatus })}
        </span>
      </p>
      <div className="mt-2 max-w-[480px]">
        <Facts row={row} />
        <Link
          to="/usage"
          search={{ request: row.requestId }}
          className="mt-2 inline-block text-accent underline"
        >
          {t('quickstart.receipt')}
        </Link>
      </div>
    </>
  );
}

function Facts({ row }: { row: UsageRow }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const number = new Intl.NumberFormat(i18n.language);
  const count = (tokens: number | null) => (tokens === null ? t('state.none') : number.format(tokens));
  return (
    <LeaderList>
      <LeaderRow name={t('quickstart.newest')}>
        <Ago at={row.createdAt} />
      </LeaderRow>
      <LeaderRow name={t('quickstart.model')}>
        <code>{row.modelName}</code>
      </LeaderRow>
      <LeaderRow name={t('quickstart.tokens')}>
        {count(row.inputTokens)} / {count(row.outputTokens)}
      </LeaderRow>
      {row.latencyMs !== null && (
        <LeaderRow name={t('quickstart.took')}>{durationText(row.latencyMs)}</LeaderRow>
      )}
    </LeaderList>
  );
}
