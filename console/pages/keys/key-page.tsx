/** One key: its spend and cap, its requests by day, its settings, and its newest requests. */
import { Link, useParams } from '@tanstack/react-router';
import { Cable, CircleAlert, Pencil } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Banner, Failure, SkeletonRows } from '../../components/notice.tsx';
import { DetailHead } from '../../components/page-head.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { NotFound } from '../shell/not-found.tsx';
import { spanOfDays } from '../usage/span.ts';
import { UsageTable } from '../usage/usage-table.tsx';
import { KeyChanges, type KeyDialog } from './documents.ts';
import { type KeyDetail, KeyQuery } from './key-documents.ts';
import { KeyMenu } from './key-menu.tsx';
import { KeySettings } from './key-settings.tsx';
import { KeySpend } from './key-spend.tsx';
import { isCapped, isFinal, lookOf, maskedOf, stateOf } from './key-state.ts';
import { lastWeek } from './first.ts';

const DAYS = 30;
const loadDialogs = () => Promise.all([import('./key-dialogs.tsx'), loadWords(['connect'])]);
const KeyDialogs = lazy(async () => ({ default: (await loadDialogs())[0].KeyDialogs }));

/** The last 30 days. */
function monthOf(now: number) {
  const { from, to } = spanOfDays(DAYS, now);
  return { from, to };
}

/** The page. */
export function KeyPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/signed-in/keys/$id' });
  const variables = useMemo(
    () => ({ id, week: lastWeek(Date.now()), month: monthOf(Date.now()), filter: { keyIds: [id] } }),
    [id],
  );
  const [{ data, error }, again] = useQuery({ query: KeyQuery, variables });
  useSubscription({ query: KeyChanges });
  const [dialog, setDialog] = useState<KeyDialog>();
  if (data?.node?.__typename === 'ApiKey' && data.viewer) {
    return (
      <>
        <Key apiKey={data.node} open={setDialog} />
        <Newest apiKey={data.node} rows={data.viewer.usage.nodes} />
        <Suspense>
          {dialog && <KeyDialogs dialog={dialog} onChange={setDialog} groups={data.viewer.allowedGroups} />}
        </Suspense>
      </>
    );
  }
  if (data) return <NotFound />;
  if (!error) return <SkeletonRows rows={8} />;
  return (
    <Failure
      title={t('keys.failed')}
      safe={t('keys.failedSafe')}
      requestId={requestIdOf(error)}
      onRetry={again}
    />
  );
}

interface KeyProps {
  apiKey: KeyDetail;
  open: (dialog: KeyDialog) => void;
}

function Key({ apiKey, open }: KeyProps) {
  const { t } = useTranslation();
  return (
    <>
      <Head apiKey={apiKey} open={open} />
      {isCapped(apiKey) && (
        <div className="mb-6">
          <Banner tone="bad" icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {t('keys.capReached')}
          </Banner>
        </div>
      )}
      <div className="mb-8 grid grid-cols-[minmax(0,1fr)_320px] gap-x-10 gap-y-8 max-xl:grid-cols-1">
        <KeySpend apiKey={apiKey} />
        <KeySettings apiKey={apiKey} />
      </div>
    </>
  );
}

function Head({ apiKey, open }: KeyProps) {
  const { t } = useTranslation();
  const state = stateOf(apiKey);
  const masked = maskedOf(apiKey);
  const actions = (
    <div className="flex flex-wrap items-center gap-2" onPointerEnter={() => void loadDialogs()}>
      {!isFinal(apiKey) && (
        <>
          <Button
            icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />}
            onClick={() => open({ kind: 'edit', key: apiKey })}
          >
            {t('keys.edit')}
          </Button>
          <Button
            variant="primary"
            icon={<Cable size={16} strokeWidth={1.75} aria-hidden="true" />}
            onClick={() => open({ kind: 'connect', key: apiKey })}
          >
            {t('keys.connect')}
          </Button>
        </>
      )}
      <KeyMenu apiKey={apiKey} open={open} />
    </div>
  );
  return (
    <DetailHead
      title={apiKey.name}
      trail={t('shell.breadcrumb')}
      back={
        <Link to="/keys" activeOptions={{ exact: true }}>
          {t('keys.title')}
        </Link>
      }
      marks={<StateWord {...lookOf(state)} word={t(`keys.states.${state}`)} chip />}
      action={actions}
    >
      {masked === undefined ? t('keys.noSecret') : <code>{masked}</code>}
    </DetailHead>
  );
}

interface NewestProps {
  apiKey: KeyDetail;
  rows: Parameters<typeof UsageTable>[0]['rows'];
}

function Newest({ apiKey, rows }: NewestProps) {
  const { t } = useTranslation();
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-3">
        <h2 className="text-section">{t('keys.newest')}</h2>
        <Link to="/usage" search={{ key: apiKey.id }} className="text-table text-accent underline">
          {t('keys.seeUsage')}
        </Link>
      </div>
      {rows.length === 0 ? (
        <p className="text-ink-2">{t('keys.noRequests')}</p>
      ) : (
        <UsageTable oneKey rows={rows} toReceipt={(receipt) => ({ key: apiKey.id, receipt })} />
      )}
    </section>
  );
}
