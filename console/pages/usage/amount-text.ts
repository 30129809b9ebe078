/** Writes amounts of a measure for people. */
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { amountOf, type Measure, moneyWords, percentOf, type Sums } from './summary.ts';

/** Functions that write sums, and the amounts beside the grid. */
interface AmountWords {
  textOf: (sums: Sums) => string;
  gridWords: (amounts: readonly number[]) => readonly string[];
}

/** Returns the functions of a measure. */
export function useAmountWords(measure: Measure): AmountWords {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  // Grid lines of small rates differ by hundredths of a percent.
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 2 });
  const rate = (amount: number) => t('usage.shareOfTokens', { value: share.format(percentOf(amount)) });
  if (measure === 'cost') return { textOf: (sums) => moneyText(sums.cost), gridWords: moneyWords };
  if (measure === 'rate')
    return { textOf: (sums) => rate(amountOf(sums, 'rate')), gridWords: (amounts) => amounts.map(rate) };
  return {
    textOf: (sums) => number.format(sums[measure]),
    gridWords: (amounts) => amounts.map((amount) => number.format(amount)),
  };
}
