/** A whole number with its digits in groups, such as "12,345". */
import { useTranslation } from '../translation.ts';

/** The number. */
export function Count({ of }: { of: number }) {
  const { i18n } = useTranslation();
  return new Intl.NumberFormat(i18n.language).format(of);
}
