/** Texts of the mails about wallets, in the languages of the console. */
import { mailLocaleOf } from '../accounts/mail.texts.ts';
import type { MailLocale, MailText } from '../accounts/mail.texts.ts';

/** Kinds of mails about a wallet. */
export type WalletNotice = 'LOW_BALANCE' | 'RECEIPT';

/** Values in the sentences: amounts as `$1.00`, and the link to the wallet's page. */
export interface WalletParts {
  balance: string;
  /** The threshold, or the credited amount. */
  amount: string;
  link: string;
}

type Line = (parts: WalletParts) => string;

const SUBJECTS: Record<WalletNotice, Record<MailLocale, Line>> = {
  LOW_BALANCE: {
    en: ({ amount }) => `Your balance is below ${amount}`,
    'zh-CN': ({ amount }) => `您的余额已低于 ${amount}`,
  },
  RECEIPT: {
    en: ({ amount }) => `${amount} was added to your wallet`,
    'zh-CN': ({ amount }) => `您的钱包已入账 ${amount}`,
  },
};

const SENTENCES: Record<WalletNotice, Record<MailLocale, Line>> = {
  LOW_BALANCE: {
    en: ({ balance }) =>
      `The wallet holds ${balance}. Requests are refused once it is empty. No further mail follows until ` +
      'the balance has been above the limit again, which you can change on the notifications page.',
    'zh-CN': ({ balance }) =>
      `钱包中尚有 ${balance}。余额用尽后请求将被拒绝。在余额重新高于该限额之前不会再次提醒；限额可在通知页面更改。`,
  },
  RECEIPT: {
    en: ({ amount, balance }) => `${amount} arrived as cash. The wallet holds ${balance} now.`,
    'zh-CN': ({ amount, balance }) => `${amount} 已作为现金入账。钱包现有 ${balance}。`,
  },
};

/** Subject and text of a mail, in the owner's language; English if there is no translation. */
export function walletMail(notice: WalletNotice, locale: string, parts: WalletParts): MailText {
  const language = mailLocaleOf(locale);
  const text = [SENTENCES[notice][language](parts), parts.link].join('\n\n');
  return { subject: SUBJECTS[notice][language](parts), text };
}
