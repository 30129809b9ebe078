/** Mails about automatic top-ups, in the languages of the console. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { mailLocaleOf } from '../../accounts/mail.texts.ts';
import type { MailLocale } from '../../accounts/mail.texts.ts';
import { queryOne, sql } from '../../database/sql.ts';
import { enqueueMail } from '../../mail/mail.service.ts';

/**
 * AUTHENTICATION: the bank wants the owner. FAILED: the card was refused. OFF: switched off after failures.
 */
export type AutoNotice = 'AUTHENTICATION' | 'FAILED' | 'OFF';

type Line = (amount: string) => string;

const SUBJECTS: Record<AutoNotice, Record<MailLocale, Line>> = {
  AUTHENTICATION: {
    en: (amount) => `Confirm your top-up of ${amount}`,
    'zh-CN': (amount) => `请确认您的 ${amount} 充值`,
  },
  FAILED: {
    en: (amount) => `Your automatic top-up of ${amount} failed`,
    'zh-CN': (amount) => `您的 ${amount} 自动充值失败`,
  },
  OFF: { en: () => 'Automatic top-up is off', 'zh-CN': () => '自动充值已关闭' },
};

const SENTENCES: Record<AutoNotice, Record<MailLocale, Line>> = {
  AUTHENTICATION: {
    en: (amount) => `Your bank wants you to confirm the top-up of ${amount}. Pay it on your wallet page.`,
    'zh-CN': (amount) => `银行要求您确认 ${amount} 的充值。请在钱包页面付款。`,
  },
  FAILED: {
    en: (amount) => `Your card was refused, so ${amount} was not added. Add credit on your wallet page.`,
    'zh-CN': (amount) => `您的银行卡被拒绝，${amount} 未入账。请在钱包页面充值。`,
  },
  OFF: {
    en: () =>
      'Three attempts in a row failed. Add credit with another card, save it, and switch it on again.',
    'zh-CN': () => '连续三次尝试失败。请使用其他银行卡充值并保存，然后重新开启自动充值。',
  },
};

/** Queues the mail in the caller's transaction, if this installation sends mail and the owner is active. */
export async function queueAutoMail(
  em: EntityManager,
  walletId: string,
  { notice, amount }: { notice: AutoNotice; amount: Micros },
): Promise<void> {
  const owner = await queryOne<{ email: string; locale: string; console_url: string }>(
    em,
    sql`select u.email, u.locale, o.console_url from mail_outlet o, wallet w join users u on u.id = w.user_id
    where w.id = ${walletId} and u.state = 'ACTIVE'`,
  );
  if (!owner) return;
  const language = mailLocaleOf(owner.locale);
  const dollars = formatDollars(amount);
  const link =
    notice === 'OFF' ? `${owner.console_url}/wallet` : `${owner.console_url}/wallet?amount=${dollars}`;
  const text = [SENTENCES[notice][language](`$${dollars}`), link].join('\n\n');
  await enqueueMail(em, { to: owner.email, subject: SUBJECTS[notice][language](`$${dollars}`), text });
}
