/** Help: addresses, keys, limits, and the meaning of each error. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { type FailureCode, FAILURES } from '@gateway/shared/failures';
import { CopyField } from '../../components/copy.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { useTitle } from '../../components/page-title.ts';
import { Rich } from '../../components/rich.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';

const AddressQuery = graphql(`
  query HelpAddress {
    baseAddress
  }
`);

/** The page; it needs no account. */
export function HelpPage() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: AddressQuery });
  useTitle(t('help.title'));
  return (
    <PublicFrame>
      <div className="flex flex-col gap-10">
        <header>
          <h1 className="text-public">{t('help.title')}</h1>
          <p className="mt-1 text-ink-2">{t('help.sentence')}</p>
        </header>
        <Part id="addresses" title={t('help.addresses')}>
          <Addresses address={data?.baseAddress ?? ''} />
        </Part>
        <div className="grid grid-cols-2 gap-10 max-lg:grid-cols-1">
          <Part id="keys" title={t('help.keys')}>
            <Points texts={[t('help.key1'), t('help.key2'), t('help.key3'), t('help.key4')]} />
          </Part>
          <Part id="limits" title={t('help.limits')}>
            <Points texts={[t('help.limit1'), t('help.limit2'), t('help.limit3')]} />
          </Part>
        </div>
        <Part id="errors" title={t('help.errors')}>
          <p className="mb-3 text-ink-2">{t('help.errorsNote')}</p>
          <Errors />
        </Part>
        <Part title={t('help.more')}>
          <p>{t('help.shortcuts')}</p>
          <p className="mt-2 flex flex-wrap gap-4">
            <Link to="/pricing" className="text-accent underline">
              {t('shell.pricing')}
            </Link>
            <Link to="/quickstart" className="text-accent underline">
              {t('shell.quickstart')}
            </Link>
            <Link to="/docs/conformance" className="text-accent underline">
              {t('help.conformance')}
            </Link>
            <a href="/graphql" className="text-accent underline">
              {t('help.explorer')}
            </a>
            <Link to="/privacy-policy" className="text-accent underline">
              {t('shell.policy')}
            </Link>
          </p>
        </Part>
      </div>
    </PublicFrame>
  );
}

function Part({ id, title, children }: { id?: string; title: string; children: ReactNode }) {
  return (
    <section id={id} className="scroll-mt-16">
      <h2 className="mb-3 text-section">{title}</h2>
      {children}
    </section>
  );
}

function Addresses({ address }: { address: string }) {
  const { t } = useTranslation();
  const rows = [
    { name: t('help.chat'), note: t('help.chatNote'), text: `${address}/v1` },
    { name: t('help.bare'), note: t('help.bareNote'), text: address },
  ];
  return (
    <ul className="border-t border-line">
      {rows.map(({ name, note, text }) => (
        <li
          key={name}
          className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line py-2"
        >
          <span className="min-w-0">
            {name} <span className="text-ink-3">{note}</span>
          </span>
          <CopyField text={text} label={t('copy.name', { name: text })} />
        </li>
      ))}
    </ul>
  );
}

function Points({ texts }: { texts: readonly string[] }) {
  return (
    <ul className="flex list-disc flex-col gap-1.5 pl-5">
      {texts.map((text) => (
        <li key={text}>
          <Rich text={text} marks={{ code: (inside) => <code>{inside}</code> }} />
        </li>
      ))}
    </ul>
  );
}

interface Row {
  code: FailureCode;
  status: number;
}

const ROWS = (Object.keys(FAILURES) as FailureCode[]).map((code): Row => ({ code, status: FAILURES[code] }));

function Errors() {
  const { t } = useTranslation();
  const means = ({ code }: Row) => t(`help.failures.${code}`);
  return (
    <DataTable
      label={t('help.errors')}
      rows={ROWS}
      idOf={({ code }) => code}
      columns={[
        { id: 'status', header: t('help.status'), cell: ({ row }) => row.original.status },
        {
          id: 'code',
          header: t('help.code'),
          cell: ({ row }) => <code id={row.original.code}>{row.original.code}</code>,
        },
        { id: 'means', header: t('help.means'), cell: ({ row }) => means(row.original) },
      ]}
      card={(row) => (
        <div className="flex flex-col gap-1 text-table">
          <span className="font-[550]">
            {row.status}{' '}
            <code id={row.code} className="break-all">
              {row.code}
            </code>
          </span>
          {means(row)}
        </div>
      )}
    />
  );
}
