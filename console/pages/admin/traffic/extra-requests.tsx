/** Requests that second requests made superfluous, with their cost for the operator. */
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { moneyText } from '../../../components/money.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Figures, Traffic } from './documents.ts';

/** Number and cost, and how many have no known cost: "96, $0.12". */
export function ExtraText({ extra: { requests, withoutCost, cost } }: Pick<Figures, 'extra'>) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <>
      {withoutCost < requests
        ? t('usage.extra.sum', { shown: number.format(requests), cost: moneyText(cost) })
        : number.format(requests)}
      {withoutCost > 0 && (
        <div className="text-hint text-ink-3">
          {t('usage.extra.withoutCost', { shown: number.format(withoutCost) })}
        </div>
      )}
    </>
  );
}

/** Extra requests of the whole range by model; nothing without them. */
export function ExtraByModel({ traffic: { extraByModel } }: { traffic: Traffic }) {
  const { t } = useTranslation();
  if (extraByModel.length === 0) return null;
  return (
    <section className="mt-6 max-w-[560px]" aria-label={t('usage.extra.byModel')}>
      <h3 className="mb-1 font-semibold">{t('usage.extra.byModel')}</h3>
      <p className="mb-2 text-hint text-ink-3">{t('usage.extra.explained')}</p>
      <LeaderList>
        {extraByModel.map(({ modelName, extra }) => (
          <LeaderRow key={modelName} name={<code>{modelName}</code>}>
            <ExtraText extra={extra} />
          </LeaderRow>
        ))}
      </LeaderList>
    </section>
  );
}
