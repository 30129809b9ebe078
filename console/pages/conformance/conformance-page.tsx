/** The share of recorded traffic that passes each pair of formats, and the clients that were run. Public. */
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { useTitle } from '../../components/page-title.ts';
import { utcDateText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import results from './results.json';

const FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate'] as const;
type Format = (typeof FORMATS)[number];

interface Share {
  passed: number;
  total: number;
}
interface Client {
  client: string;
  version: string;
  measured: string;
  passed: string[];
  failed: string[];
  skipped?: string;
}
interface Suite {
  name: string;
  result: string;
  exceptions: string[];
}
const CLIENTS: readonly Client[] = results.clients;
const SUITES: readonly Suite[] = results.suites;

/** The page. */
export function ConformancePage() {
  const { t, i18n } = useTranslation();
  const share = useShare();
  const day = utcDateText(results.measured, i18n.language);
  useTitle(t('conformance.title'));
  const { whole, odd } = results.streams;
  return (
    <PublicFrame>
      <div className="flex flex-col gap-10">
        <header>
          <h1 className="text-public">{t('conformance.title')}</h1>
          <p className="mt-1 max-w-[720px] text-ink-2">{t('conformance.sentence')}</p>
        </header>
        <Part title={t('conformance.traffic')} note={t('conformance.trafficNote', { day })}>
          <Matrix />
          <p className="mt-3 text-ink-2">
            {t('conformance.streams', { whole: share(whole), odd: share(odd) })}
          </p>
        </Part>
        <Part title={t('conformance.clients')} note={t('conformance.clientsNote')}>
          <Clients />
        </Part>
        <Part title={t('conformance.suites')}>
          <Suites />
        </Part>
      </div>
    </PublicFrame>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-3 text-section">{title}</h2>
      {note !== undefined && <p className="mb-3 text-ink-2">{note}</p>}
      {children}
    </section>
  );
}

function useShare(): (share: Share) => string {
  const { t } = useTranslation();
  return (share) => t('conformance.share', { ...share });
}

/** The results of a client format over an upstream format: answers, requests and errors. */
function Cell({ client, upstream }: { client: Format; upstream: Format }) {
  const { t } = useTranslation();
  const share = useShare();
  const pair = results.pairs.find((each) => each.client === client && each.upstream === upstream);
  if (!pair) return null;
  return (
    <dl className="grid w-max grid-cols-[auto_auto] gap-x-3 text-table">
      {(['answers', 'requests', 'errors'] as const).map((kind) => (
        <div key={kind} className="contents">
          <dt className="text-ink-3">{t(`conformance.${kind}`)}</dt>
          <dd>{share(pair[kind])}</dd>
        </div>
      ))}
    </dl>
  );
}

function Matrix() {
  const { t } = useTranslation();
  const over = (upstream: Format) => t('conformance.over', { format: t(`conformance.formats.${upstream}`) });
  const name = (client: Format) => <span className="font-[550]">{t(`conformance.formats.${client}`)}</span>;
  const columns: Column<{ format: Format }>[] = [
    { id: 'client', header: t('conformance.client'), cell: ({ row }) => name(row.original.format) },
    ...FORMATS.map((upstream): Column<{ format: Format }> => ({
      id: upstream,
      header: over(upstream),
      cell: ({ row }) => <Cell client={row.original.format} upstream={upstream} />,
    })),
  ];
  return (
    <DataTable
      label={t('conformance.traffic')}
      rows={FORMATS.map((format) => ({ format }))}
      idOf={({ format }) => format}
      columns={columns}
      card={({ format }) => (
        <div className="flex flex-col gap-3">
          {name(format)}
          {FORMATS.map((upstream) => (
            <div key={upstream} className="flex flex-col gap-1 text-table">
              {over(upstream)}
              <Cell client={format} upstream={upstream} />
            </div>
          ))}
        </div>
      )}
    />
  );
}

/** A name or a remark of the results, which are in English in every language of the console. */
function InEnglish({ children }: { children: ReactNode }) {
  return <span lang="en">{children}</span>;
}

function Clients() {
  const { t, i18n } = useTranslation();
  const day = ({ measured }: Client) => utcDateText(measured, i18n.language);
  const names = (formats: readonly string[]) =>
    FORMATS.filter((format) => formats.includes(format))
      .map((format) => t(`conformance.formats.${format}`))
      .join(t('state.separator')) || t('conformance.none');
  const passed = ({ skipped, passed: formats }: Client) =>
    skipped === undefined ? names(formats) : t('conformance.notRun');
  const failed = ({ skipped, failed: formats }: Client) =>
    skipped === undefined ? names(formats) : <InEnglish>{skipped}</InEnglish>;
  return (
    <DataTable
      label={t('conformance.clients')}
      rows={CLIENTS}
      idOf={({ client }) => client}
      columns={[
        {
          id: 'name',
          header: t('conformance.name'),
          cell: ({ row }) => <InEnglish>{row.original.client}</InEnglish>,
        },
        { id: 'version', header: t('conformance.version'), cell: ({ row }) => row.original.version },
        { id: 'passed', header: t('conformance.passed'), cell: ({ row }) => passed(row.original) },
        { id: 'failed', header: t('conformance.failed'), cell: ({ row }) => failed(row.original) },
        { id: 'day', header: t('conformance.day'), cell: ({ row }) => day(row.original) },
      ]}
      card={(row) => (
        <div className="flex flex-col gap-1 text-table">
          <span className="font-[550]" lang="en">
            {row.client} {row.version}
          </span>
          <span>
            {t('conformance.passed')}: {passed(row)}
          </span>
          <span>
            {t('conformance.failed')}: {failed(row)}
          </span>
          <span className="text-ink-3">{day(row)}</span>
        </div>
      )}
    />
  );
}

function Suites() {
  const { t } = useTranslation();
  const exceptions = ({ exceptions: list }: Suite) =>
    list.length === 0 ? t('conformance.none') : <InEnglish>{list.join('; ')}</InEnglish>;
  return (
    <DataTable
      label={t('conformance.suites')}
      rows={SUITES}
      idOf={({ name }) => name}
      columns={[
        {
          id: 'suite',
          header: t('conformance.suite'),
          cell: ({ row }) => <InEnglish>{row.original.name}</InEnglish>,
        },
        {
          id: 'result',
          header: t('conformance.result'),
          cell: ({ row }) => <InEnglish>{row.original.result}</InEnglish>,
        },
        {
          id: 'exceptions',
          header: t('conformance.exceptions'),
          cell: ({ row }) => exceptions(row.original),
        },
      ]}
      card={(row) => (
        <div className="flex flex-col gap-1 text-table">
          <span className="font-[550]" lang="en">
            {row.name}
          </span>
          <span lang="en">{row.result}</span>
          <span className="text-ink-3">{exceptions(row)}</span>
        </div>
      )}
    />
  );
}
