/** Texts of the mail about an endpoint that was disabled, in the languages of the console. */
import { mailLocaleOf } from '../accounts/mail.texts.ts';
import type { MailLocale, MailText } from '../accounts/mail.texts.ts';

interface FailedParts {
  /** Host of the endpoint's address. The address itself may hold a secret. */
  host: string;
  /** The page of webhooks. */
  link: string;
}

const TEXTS: Record<MailLocale, (host: string) => { subject: string; text: string }> = {
  en: (host) => ({
    subject: `Your webhook at ${host} was disabled`,
    text:
      `The receiver at ${host} has not accepted a delivery for about a day, or it asked for no more ` +
      'deliveries. The gateway sends it nothing more. When the receiver works again, enable the webhook; ' +
      'failed deliveries of the last 30 days can be repeated there.',
  }),
  'zh-CN': (host) => ({
    subject: `您在 ${host} 的 Webhook 已被停用`,
    text:
      `${host} 的接收端约一天未接受任何投递，或要求不再投递。网关不再向其发送。` +
      '接收端恢复后，请重新启用该 Webhook；最近 30 天内失败的投递可在该页面重发。',
  }),
};

/** Subject and text of the mail, in the owner's language; English if there is no translation. */
export function failedMail(locale: string, { host, link }: FailedParts): MailText {
  const { subject, text } = TEXTS[mailLocaleOf(locale)](host);
  return { subject, text: [text, link].join('\n\n') };
}
