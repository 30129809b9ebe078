/** The description of a ledger entry in the reader's language. */
import type { TFunction } from '../../translation.ts';
import type { Entry } from './documents.ts';

/** Says what the entry is about. An entry without a topic has its description, as it was written. */
export function entryText(t: TFunction, { subject, description }: Entry): string {
  const { topic, count, pool, playMoney } = subject;
  if (topic === 'NOTE') return description;
  if (topic === 'REQUESTS' && count !== null) return t('wallet.requests', { count });
  const what = t(`wallet.subjects.${topic}`, { pool: pool ?? '' });
  return playMoney ? t('wallet.playMoney', { what }) : what;
}
