/** Words of the mails about wallets, in the languages of the console. */
import { mailLocaleOf } from '../accounts/mail.texts.ts';
import type { MailLocale, Words } from '../accounts/mail.texts.ts';

/** What an owner is told of a wallet. */
export type WalletNotice = 'LOW_BALANCE' | 'RECEIPT';

/** What goes into the sentences: dollars with their sign, and the page that shows the wallet. */
export interface WalletParts {
  balance: string;
  /** The threshold that was crossed, or what came in. */
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

/** The mail of a notice, in the owner's language; English for languages we do not write. */
export function walletMail(notice: WalletNotice, locale: string, parts: WalletParts): Words {
  const language = mailLocaleOf(locale);
  const text = [SENTENCES[notice][language](parts), parts.link].join('\n\n');
  return { subject: SUBJECTS[notice][language](parts), text };
}
