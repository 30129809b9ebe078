/** Texts of the mails about the spend of a month, in the languages of the console. */
import { mailLocaleOf } from '../accounts/mail.texts.ts';
import type { MailLocale, MailText } from '../accounts/mail.texts.ts';

/** Values in the sentences: amounts as `$1.00`, and the link to the page of the key or wallet. */
export interface AlertParts {
  /** The name of the key; null for the whole account. */
  keyName: string | null;
  percent: number;
  spent: string;
  limit: string;
  link: string;
}

type Line = (parts: AlertParts) => string;

const SUBJECTS: Record<MailLocale, Line> = {
  en: ({ keyName, percent, limit }) =>
    keyName === null
      ? `Your account has spent ${percent} % of its monthly budget of ${limit}`
      : `“${keyName}” has spent ${percent} % of its monthly cap of ${limit}`,
  'zh-CN': ({ keyName, percent, limit }) =>
    keyName === null
      ? `您的账户已用去每月预算 ${limit} 的 ${percent} %`
      : `“${keyName}”已用去每月上限 ${limit} 的 ${percent} %`,
};

const SENTENCES: Record<MailLocale, Line> = {
  en: (parts) => `Spent this month (UTC): ${parts.spent}. ${effectInEnglish(parts)}`,
  'zh-CN': (parts) => `本月（UTC）已消费：${parts.spent}。${effectInChinese(parts)}`,
};

function effectInEnglish({ keyName, percent }: AlertParts): string {
  if (keyName === null) return 'A budget only warns: requests still work.';
  return percent < FULL
    ? 'Requests with this key fail with 402 when the cap is reached.'
    : 'Requests with this key fail with 402 until you raise the cap or the month ends.';
}

function effectInChinese({ keyName, percent }: AlertParts): string {
  if (keyName === null) return '预算只作提醒，请求照常工作。';
  return percent < FULL
    ? '达到上限后，使用此密钥的请求会返回 402。'
    : '在您提高上限或当月结束之前，使用此密钥的请求会返回 402。';
}

const FULL = 100;

/** Subject and text of the mail, in the owner's language; English if there is no translation. */
export function spendAlertMail(locale: string, parts: AlertParts): MailText {
  const language = mailLocaleOf(locale);
  const text = [SENTENCES[language](parts), parts.link].join('\n\n');
  return { subject: SUBJECTS[language](parts), text };
}
