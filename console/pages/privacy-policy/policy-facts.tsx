/** Facts beside the policy's text: what providers receive, and how long data is kept. */
import { useQuery } from 'urql';
import { useTranslation } from '../../translation.ts';
import { RetentionQuery } from './documents.ts';

const KEPT = ['prompts', 'usage', 'ledger', 'sessions', 'links', 'chats', 'record'] as const;

/** The facts, below the text. */
export function PolicyFacts() {
  const { t } = useTranslation();
  const howLong = useHowLong();
  return (
    <>
      <section className="mt-10 border-t border-line pt-6">
        <h2 className="text-section">{t('privacy.providers')}</h2>
        <p className="mt-2">{t('privacy.providersSentence')}</p>
        <ul className="mt-2 list-disc pl-5">
          <li>{t('privacy.receive')}</li>
          <li>{t('privacy.receiveNot')}</li>
          <li>{t('privacy.terms')}</li>
        </ul>
      </section>
      <section className="mt-8">
        <h2 className="text-section">{t('privacy.retention')}</h2>
        <div className="mt-2 overflow-x-auto" tabIndex={0} role="region" aria-label={t('privacy.retention')}>
          <table className="w-full text-left text-table">
            <thead>
              <tr className="border-b border-line-strong text-hint text-ink-3">
                <th className="py-2 pr-4 font-medium">{t('privacy.what')}</th>
                <th className="py-2 font-medium">{t('privacy.howLong')}</th>
              </tr>
            </thead>
            <tbody>
              {KEPT.map((name) => (
                <tr key={name} className="border-b border-line align-top">
                  <td className="py-2 pr-4">{t(`privacy.kept.${name}.what`)}</td>
                  <td className="py-2 text-ink-2">{howLong(name)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  );
}

/**
 * Returns a function that gives the retention of a kind of data. Only that of the usage log is configurable.
 */
function useHowLong(): (name: (typeof KEPT)[number]) => string {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: RetentionQuery });
  const days = data?.usageRetentionDays ?? null;
  return (name) => {
    if (name !== 'usage') return t(`privacy.kept.${name}.long`);
    if (!data) return '';
    return days === null ? t('privacy.kept.usage.long') : t('privacy.usageDropped', { count: days });
  };
}
