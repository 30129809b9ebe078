/** The settings of a key: group, domain, expiry, allowed models and addresses. */
import { Link } from '@tanstack/react-router';
import { CopyField } from '../../components/copy.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Ago, Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { KeyDetail } from './key-documents.ts';

/** The list. */
export function KeySettings({ apiKey }: { apiKey: KeyDetail }) {
  const { t } = useTranslation();
  return (
    <section>
      <h2 className="mb-2 text-section">{t('keys.settings')}</h2>
      <LeaderList>
        <LeaderRow name={t('keys.group')}>
          {t(`groups.${apiKey.group}`)} <span className="text-ink-3">×{apiKey.groupRatio}</span>
        </LeaderRow>
        <LeaderRow name={t('keys.domain')}>
          <Domain apiKey={apiKey} />
        </LeaderRow>
        <LeaderRow name={t('keys.created')}>
          <Day at={apiKey.createdAt} />
        </LeaderRow>
        <LeaderRow name={t('keys.lastUsed')}>
          {apiKey.lastUsedAt === null ? t('state.never') : <Ago at={apiKey.lastUsedAt} />}
        </LeaderRow>
        <LeaderRow name={t('keys.expires')}>
          {apiKey.expiresAt === null ? t('state.never') : <Day at={apiKey.expiresAt} />}
        </LeaderRow>
      </LeaderList>
      <Allowed
        title={t('keys.models')}
        names={apiKey.allowedModels?.map(({ name }) => name) ?? []}
        any={t('keys.anyModel')}
      />
      <Allowed title={t('keys.addresses')} names={apiKey.allowedIps} any={t('keys.anyAddress')} />
      <h3 className="mt-4 mb-1.5 text-hint text-ink-3">{t('shell.baseAddress')}</h3>
      <CopyField text={apiKey.baseUrl} label={t('copy.name', { name: apiKey.baseUrl })} />
    </section>
  );
}

function Domain({ apiKey: { pool } }: { apiKey: KeyDetail }) {
  const { t } = useTranslation();
  if (!pool) return t('keys.mainDomain');
  return (
    <Link to="/pools/$id" params={{ id: pool.id }} className="text-accent underline">
      {pool.name}
    </Link>
  );
}

interface AllowedProps {
  title: string;
  names: readonly string[];
  /** Shown if the list is empty. */
  any: string;
}

function Allowed({ title, names, any }: AllowedProps) {
  return (
    <>
      <h3 className="mt-4 mb-1.5 text-hint text-ink-3">{title}</h3>
      {names.length === 0 ? (
        <p>{any}</p>
      ) : (
        <ul className="flex flex-wrap gap-x-3 gap-y-1">
          {names.map((name) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
