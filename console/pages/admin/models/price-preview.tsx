/** Previews of request prices while a price or a ratio is edited. */
import { clsx } from 'clsx';
import { chargeFor, formatDollars, parseDollars, parseRatio } from '@gateway/shared/money';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { decimalsOf, Money, moneyText } from '../../../components/money.tsx';
import { useTranslation } from '../../../translation.ts';
import type { AdminModel, GroupRatio } from './documents.ts';

/** The effective price of a request in dollars; undefined if price or ratio is not valid. */
function effectivePrice(price: string, ratio: string): string | undefined {
  const micros = parseDollars(price.trim());
  const factor = parseRatio(ratio.trim());
  if (micros === undefined || micros <= 0n || factor === undefined) return undefined;
  return formatDollars(chargeFor(micros, factor));
}

/** The price of a model in every group, while it is typed. */
export function GroupPrices({ price, ratios }: { price: string; ratios: readonly GroupRatio[] }) {
  const { t } = useTranslation();
  return (
    <section aria-live="polite">
      <h3 className="text-table font-[550]">{t('admin.models.effective')}</h3>
      <LeaderList>
        {ratios.map(({ group, ratio }) => {
          const shown = effectivePrice(price, ratio);
          return (
            <LeaderRow key={group} name={t(`groups.${group}`)} note={`×${ratio}`}>
              {shown === undefined ? t('admin.models.noPrice') : moneyText(shown)}
            </LeaderRow>
          );
        })}
      </LeaderList>
    </section>
  );
}

interface RatioPreviewProps {
  models: readonly Pick<AdminModel, 'id' | 'name' | 'pricePerRequest'>[];
  before: string;
  after: string;
}

const HEADS = ['pricing.model', 'admin.groups.now', 'admin.groups.after'] as const;

/** The price of each model in one group, with the current and with the typed ratio. */
export function RatioPreview({ models, before, after }: RatioPreviewProps) {
  const { t } = useTranslation();
  const rows = models.map(({ id, name, pricePerRequest: price }) => ({
    id,
    name,
    current: effectivePrice(price, before),
    typed: effectivePrice(price, after),
  }));
  const align = decimalsOf(rows.flatMap(({ current, typed }) => [current ?? '0', typed ?? '0']));
  return (
    <table className="w-full border-collapse text-table" aria-label={t('admin.groups.preview')}>
      <thead>
        <tr className="h-8 border-b border-line-strong text-hint text-ink-3">
          {HEADS.map((head, place) => (
            <th
              key={head}
              scope="col"
              className={clsx('font-medium', place === 0 ? 'text-left' : 'text-right')}
            >
              {t(head)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, current, typed }) => (
          <tr key={id} className="h-8 border-b border-line">
            <td>
              <code>{name}</code>
            </td>
            <td className="text-right text-ink-2">
              {current !== undefined && <Money amount={current} align={align} />}
            </td>
            <td className="text-right font-semibold">
              {typed === undefined ? t('state.none') : <Money amount={typed} align={align} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
