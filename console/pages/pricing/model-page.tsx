/** One model: endpoints, prices by group, client settings. */
import { Link, useParams } from '@tanstack/react-router';
import { Check, Clock } from 'lucide-react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { CopyLabel, useCopy } from '../../components/copy.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Banner, Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { FACT } from '../../components/table-types.ts';
import { exactText } from '../../components/time.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { SnippetFields } from '../connect/set-up.tsx';
import { PublicFrame } from '../shell/public-frame.tsx';
import { Connect } from './model-connect.tsx';
import { StoredState } from './model-state.tsx';
import { useModalities } from './modalities.ts';
import { HealthChip, LastDay, UptimeHistory } from './model-health.tsx';
import { TimesHistory } from './model-times.tsx';
import { NoModel } from './no-model.tsx';
import { FILTER_TRAITS } from './search.ts';
import { contextText } from './tiers.ts';

const ModelQuery = graphql(
  `
    query Model($name: String!) {
      catalogModel(name: $name) {
        id
        name
        description
        tier
        traits
        contextTokens
        maxOutputTokens
        inputModalities
        outputModalities
        storesState
        stateRetentionDays
        health {
          status
          successRate24h
          p50LatencyMs
          p95LatencyMs
          p50FirstTokenMs
          p95FirstTokenMs
        }
        uptime {
          name
          share
          days
        }
        dailyTimes {
          day
          p50FirstTokenMs
          p95FirstTokenMs
          p50LatencyMs
          p95LatencyMs
        }
        prices {
          group
          ratio
          pricePerRequest
        }
        endpoints {
          family
          method
          path
          streaming
        }
        deprecation {
          retiresAt
          note
          replacement {
            id
            name
          }
        }
        clientSnippets {
          ...SnippetFields
        }
      }
    }
  `,
  [SnippetFields],
);

const ACTIONS =
  'order-1 ml-auto flex flex-wrap gap-2 max-sm:order-2 max-sm:mt-2 max-sm:ml-0 max-sm:w-full ' +
  'max-sm:*:flex-1';

type Model = NonNullable<ResultOf<typeof ModelQuery>['catalogModel']>;

/** The page, or "not found" if no model has the name. */
export function ModelPage() {
  const { t } = useTranslation();
  const { name } = useParams({ from: '/pricing/$name' });
  const [{ data, error }, again] = useQuery({ query: ModelQuery, variables: { name } });
  useTitle(name);
  if (data && data.catalogModel === null) return <NoModel name={name} />;
  const model = data?.catalogModel;
  return (
    <PublicFrame>
      <Head name={name} model={model} />
      {model && <Details model={model} />}
      {!data && !error && <SkeletonRows rows={8} />}
      {!data && error && (
        <Failure
          title={t('pricing.failed')}
          safe={t('pricing.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </PublicFrame>
  );
}

/** Breadcrumb, name to copy, health, description, and a link to the Playground. */
function Head({ name, model }: { name: string; model: Model | null | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      <nav aria-label={t('shell.breadcrumb')} className="mb-1 flex gap-1.5 text-table text-ink-2">
        <Link to="/pricing" className="hover:text-ink hover:underline">
          {t('shell.pricing')}
        </Link>
        {model && (
          <>
            <span aria-hidden="true" className="text-ink-3">
              /
            </span>
            <span className="text-ink-3">{t(`pricing.tiers.${model.tier}`)}</span>
          </>
        )}
      </nav>
      <div className="mb-6 flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="text-public break-all">
          <code>{name}</code>
        </h1>
        <CopyName name={name} />
        {model && <HealthChip health={model.health} />}
        {model && (
          <p className="order-2 w-full text-[16px] leading-6 text-ink-2 max-sm:order-1">
            {model.description}
          </p>
        )}
        {model && (
          <span className={ACTIONS}>
            <Link to="/compare" search={{ models: [name] }} className={buttonClass({})}>
              {t('shell.compare')}
            </Link>
            <Link to="/playground" search={{ model: name }} className={buttonClass({ variant: 'primary' })}>
              {t('model.try')}
            </Link>
          </span>
        )}
      </div>
    </>
  );
}

function CopyName({ name }: { name: string }) {
  const { t } = useTranslation();
  const { outcome, copy } = useCopy(name);
  return (
    <Button size="small" onClick={() => void copy()}>
      <CopyLabel outcome={outcome} idleText={t('model.copyName')} />
    </Button>
  );
}

function Details({ model }: { model: Model }) {
  const { t, i18n } = useTranslation();
  const end = model.deprecation?.retiresAt;
  const replacement = model.deprecation?.replacement?.name;
  return (
    <>
      {model.deprecation && (
        <div className="mb-6">
          <Banner tone="warn" icon={<Clock size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {t('model.deprecated')}
            {t('state.gap')}
            {end && t('model.retires', { time: exactText(new Date(end), i18n.language) })}
            {t('state.gap')}
            {replacement !== undefined && t('model.replacement', { name: replacement })}
            {t('state.gap')}
            {model.deprecation.note}
          </Banner>
        </div>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)_300px] gap-10 max-lg:grid-cols-1">
        <div className="min-w-0">
          <Endpoints model={model} />
          <Connect snippets={model.clientSnippets} />
        </div>
        <Facts model={model} />
      </div>
    </>
  );
}

type Endpoint = Model['endpoints'][number];

function Endpoints({ model }: { model: Model }) {
  const { t } = useTranslation();
  const streaming = ({ streaming: streams }: Endpoint) =>
    streams ? (
      <span className="inline-flex items-center gap-1.5 text-good">
        <Check size={14} strokeWidth={1.75} aria-hidden="true" /> {t('model.yes')}
      </span>
    ) : (
      <span className="text-ink-3">{t('model.no')}</span>
    );
  const address = ({ method, path }: Endpoint) => (
    <code className="break-all">
      <span className="text-ink-3">{method}</span> {path}
    </code>
  );
  const family = (endpoint: Endpoint) => (
    <span className="font-[550]">{t(`pricing.families.${endpoint.family}`)}</span>
  );
  const columns: Column<Endpoint>[] = [
    { id: 'family', header: t('model.family'), cell: ({ row }) => family(row.original) },
    { id: 'path', header: t('model.path'), cell: ({ row }) => address(row.original) },
    { id: 'streaming', header: t('model.streaming'), meta: FACT, cell: ({ row }) => streaming(row.original) },
  ];
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.endpoints')}</h2>
      <DataTable
        label={t('model.endpoints')}
        rows={model.endpoints}
        idOf={({ method, path }) => `${method} ${path}`}
        columns={columns}
        card={(endpoint) => (
          <div className="flex flex-col gap-1 text-table">
            {family(endpoint)}
            {address(endpoint)}
          </div>
        )}
      />
    </section>
  );
}

function Facts({ model }: { model: Model }) {
  const { t } = useTranslation();
  const modalities = useModalities();
  return (
    <aside className="flex flex-col gap-8">
      <section>
        <h2 className="mb-2 text-section">{t('model.price')}</h2>
        <LeaderList>
          {model.prices.map(({ group, ratio, pricePerRequest }) => (
            <LeaderRow key={group} name={t(`groups.${group}`)} note={`×${ratio}`}>
              <Money amount={pricePerRequest} className="font-semibold" />
            </LeaderRow>
          ))}
        </LeaderList>
        <p className="mt-2 text-hint text-ink-3">{t('model.priceNote')}</p>
      </section>
      <LastDay health={model.health} />
      {model.uptime && <UptimeHistory uptime={model.uptime} />}
      <TimesHistory times={model.dailyTimes} />
      <section>
        <h2 className="mb-2 text-section">{t('model.properties')}</h2>
        <LeaderList>
          <LeaderRow name={t('pricing.context')}>{contextText(model.contextTokens)}</LeaderRow>
          {model.maxOutputTokens !== null && (
            <LeaderRow name={t('model.longest')}>{contextText(model.maxOutputTokens)}</LeaderRow>
          )}
          <LeaderRow name={t('model.input')}>{modalities(model.inputModalities)}</LeaderRow>
          <LeaderRow name={t('model.output')}>{modalities(model.outputModalities)}</LeaderRow>
          {FILTER_TRAITS.map((trait) => (
            <LeaderRow key={trait} name={t(`pricing.traitNames.${trait}`)}>
              {model.traits.includes(trait) ? t('model.yes') : t('model.no')}
            </LeaderRow>
          ))}
        </LeaderList>
      </section>
      <StoredState model={model} />
    </aside>
  );
}
