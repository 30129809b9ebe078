/** Texts of the mails about pools, in the languages of the console. */
import { mailLocaleOf } from '../accounts/mail.texts.ts';
import type { MailLocale, MailText } from '../accounts/mail.texts.ts';

/** Notices to the owner of a pool, each at most once per period. */
export type Notice = 'DAYS_7' | 'DAYS_3' | 'HOURS_24' | 'ENDED' | 'RENEWAL_24H_FAILED' | 'RENEWAL_1H_FAILED';

/** Values in the sentences. */
export interface NoticeParts {
  /** The pool's subdomain: only letters, digits and hyphens. */
  pool: string;
  endsAt: Date;
  timeZone: string;
  autoRenew: boolean;
  /** Why a renewal failed, in English; null for other notices. */
  detail: string | null;
  /** The page that renews the pool. */
  link: string;
}

type Line = (parts: { pool: string; end: string }) => string;

const SUBJECTS: Record<Notice, Record<MailLocale, Line>> = {
  DAYS_7: {
    en: ({ pool }) => `Pool ${pool} ends in a week`,
    'zh-CN': ({ pool }) => `专属池 ${pool} 将在一周后到期`,
  },
  DAYS_3: {
    en: ({ pool }) => `Pool ${pool} ends in three days`,
    'zh-CN': ({ pool }) => `专属池 ${pool} 将在三天后到期`,
  },
  HOURS_24: {
    en: ({ pool }) => `Pool ${pool} ends within a day`,
    'zh-CN': ({ pool }) => `专属池 ${pool} 将在一天内到期`,
  },
  ENDED: { en: ({ pool }) => `Pool ${pool} has ended`, 'zh-CN': ({ pool }) => `专属池 ${pool} 已到期` },
  RENEWAL_24H_FAILED: {
    en: ({ pool }) => `Pool ${pool} could not be renewed yet`,
    'zh-CN': ({ pool }) => `专属池 ${pool} 尚未能自动续期`,
  },
  RENEWAL_1H_FAILED: {
    en: ({ pool }) => `Pool ${pool} could not be renewed`,
    'zh-CN': ({ pool }) => `专属池 ${pool} 未能自动续期`,
  },
};

const SENTENCES: Record<'running' | 'ended' | 'failed', Record<MailLocale, Line>> = {
  running: {
    en: ({ end }) => `It serves requests until ${end}.`,
    'zh-CN': ({ end }) => `该池将服务至 ${end}。`,
  },
  ended: {
    en: () =>
      'Its keys are refused now. Subdomain and keys are kept for 14 days. Renew the pool to use them again.',
    'zh-CN': () => '其密钥现已被拒绝。子域名和密钥将保留 14 天：续期后即可恢复使用。',
  },
  failed: {
    en: ({ end }) => `The automatic renewal failed. The pool serves requests until ${end}.`,
    'zh-CN': ({ end }) => `自动续期未成功。该池将服务至 ${end}。`,
  },
};

const RENEWS: Record<MailLocale, string> = {
  en: 'It is renewed automatically a day before the end, from cash only.',
  'zh-CN': '将在到期前一天自动续期，仅从现金余额扣款。',
};

/**
 * Subject and text of a notice, in the owner's language and time zone; English if there is no translation.
 */
export function noticeMail(notice: Notice, locale: string, parts: NoticeParts): MailText {
  const language = mailLocaleOf(locale);
  const end = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: parts.timeZone,
  }).format(parts.endsAt);
  const failed = notice === 'RENEWAL_24H_FAILED' || notice === 'RENEWAL_1H_FAILED';
  const about = failed ? 'failed' : notice === 'ENDED' ? 'ended' : 'running';
  const values = { pool: parts.pool, end };
  const lines = [
    SENTENCES[about][language](values),
    ...(parts.autoRenew && about === 'running' ? [RENEWS[language]] : []),
    ...(parts.detail ? [parts.detail] : []),
    '',
    parts.link,
  ];
  return { subject: SUBJECTS[notice][language](values), text: lines.join('\n') };
}

const STOREFRONT_OPEN: Record<MailLocale, MailText> = {
  en: {
    subject: 'Dedicated pools are on sale again',
    text: 'The storefront is open. You asked for this mail once; no further mail follows.',
  },
  'zh-CN': { subject: '专属池重新开售', text: '销售已开放。您要求通知一次，之后不再发送此类邮件。' },
};

/** The mail to subscribers of the storefront; English if there is no translation. */
export function storefrontOpenMail(locale: string, link: string): MailText {
  const { subject, text } = STOREFRONT_OPEN[mailLocaleOf(locale)];
  return { subject, text: `${text}\n\n${link}` };
}
