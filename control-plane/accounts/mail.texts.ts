/**
 * Words of the mails about accounts, in the languages of the console. Nothing stands in them that a
 * stranger may choose (no names, no browser): whoever enters somebody else's address must not be able to
 * write to them.
 */

/** The languages that mails are written in. */
export type MailLocale = 'en' | 'zh-CN';

/** What a mail says. */
export interface Words {
  subject: string;
  text: string;
}

/** Why a link is mailed, or why none is. */
export type LetterKind = 'register' | 'taken' | 'reset' | 'verify' | 'change';

/** What happened to an account that its owner should know of. */
export type NoticeKind =
  | 'NEW_PLACE'
  | 'PASSWORD_CHANGED'
  | 'PASSWORD_CHANGED_ALONE'
  | 'PASSWORD_RESET'
  | 'TOTP_ON'
  | 'TOTP_OFF'
  | 'TOKEN_CREATED'
  | 'PASSKEY_ADDED'
  | 'PASSKEY_REMOVED'
  | 'IDENTITY_LINKED'
  | 'IDENTITY_UNLINKED'
  | 'EMAIL_CHANGED'
  | 'DATA_EXPORTED';

/** Subject and first sentence. */
type Pair = readonly [string, string];

const LETTERS: Record<LetterKind, Record<MailLocale, Pair>> = {
  register: {
    en: ['Confirm your address', 'Open this link within 24 hours to finish your registration:'],
    'zh-CN': ['确认您的邮箱地址', '请在 24 小时内打开此链接以完成注册：'],
  },
  taken: {
    en: [
      'You already have an account',
      'This address already belongs to an account. Sign in, or set a new password:',
    ],
    'zh-CN': ['您已有账户', '此邮箱地址已属于一个账户。请直接登录，或设置新密码：'],
  },
  reset: {
    en: ['Set a new password', 'Open this link within one hour to set a new password. It works once:'],
    'zh-CN': ['设置新密码', '请在一小时内打开此链接以设置新密码。链接仅可使用一次：'],
  },
  verify: {
    en: ['Confirm your address', 'Open this link within 24 hours to confirm the address of your account:'],
    'zh-CN': ['确认您的邮箱地址', '请在 24 小时内打开此链接以确认账户的邮箱地址：'],
  },
  change: {
    en: [
      'Confirm your new address',
      'Open this link within 24 hours to sign in with this address from now on:',
    ],
    'zh-CN': ['确认您的新邮箱地址', '请在 24 小时内打开此链接，此后即使用此地址登录：'],
  },
};

const NOTICES: Record<NoticeKind, Record<MailLocale, Pair>> = {
  NEW_PLACE: {
    en: ['New sign-in', 'Somebody signed in to your account from an address that was not used before.'],
    'zh-CN': ['新的登录', '有人从一个此前未使用过的地址登录了您的账户。'],
  },
  PASSWORD_CHANGED: {
    en: ['Your password was changed', 'The password of your account was changed; all other sessions ended.'],
    'zh-CN': ['您的密码已更改', '您账户的密码已更改，其他会话均已结束。'],
  },
  PASSWORD_CHANGED_ALONE: {
    en: ['Your password was changed', 'The password of your account was changed; other sessions go on.'],
    'zh-CN': ['您的密码已更改', '您账户的密码已更改，其他会话仍然有效。'],
  },
  PASSWORD_RESET: {
    en: ['Your password was reset', 'A new password was set by a link; all earlier sessions ended.'],
    'zh-CN': ['您的密码已重置', '已通过链接设置新密码，之前的会话均已结束。'],
  },
  TOTP_ON: {
    en: ['Authenticator app added', 'An authenticator app is asked for when you sign in from now on.'],
    'zh-CN': ['已添加身份验证器', '今后登录时将需要身份验证器应用。'],
  },
  TOTP_OFF: {
    en: ['Authenticator app removed', 'No authenticator app is asked for any more when you sign in.'],
    'zh-CN': ['已移除身份验证器', '登录时不再需要身份验证器应用。'],
  },
  TOKEN_CREATED: {
    en: ['Access token created', 'An access token for scripts was made for your account.'],
    'zh-CN': ['已创建访问令牌', '已为您的账户创建一个脚本访问令牌。'],
  },
  PASSKEY_ADDED: {
    en: ['Passkey added', 'A passkey was added to your account.'],
    'zh-CN': ['已添加通行密钥', '您的账户已添加一个通行密钥。'],
  },
  PASSKEY_REMOVED: {
    en: ['Passkey removed', 'A passkey was removed from your account.'],
    'zh-CN': ['已移除通行密钥', '您的账户已移除一个通行密钥。'],
  },
  IDENTITY_LINKED: {
    en: ['Sign-in linked', 'Your account can now be signed in to with your identity provider.'],
    'zh-CN': ['已关联登录方式', '现在可以使用您的身份提供商登录账户。'],
  },
  IDENTITY_UNLINKED: {
    en: ['Sign-in unlinked', 'Your identity provider no longer signs in to your account.'],
    'zh-CN': ['已解除关联', '您的身份提供商不再能登录您的账户。'],
  },
  EMAIL_CHANGED: {
    en: ['Your address was changed', 'Your account is signed in to with another address from now on.'],
    'zh-CN': ['您的邮箱地址已更改', '今后您的账户将使用另一个邮箱地址登录。'],
  },
  DATA_EXPORTED: {
    en: ['Your data was exported', 'A copy of the data of your account was asked for.'],
    'zh-CN': ['您的数据已导出', '有人请求了您账户数据的副本。'],
  },
};

const IGNORE: Record<MailLocale, string> = {
  en: 'If you did not ask for this, ignore this mail; nothing changes.',
  'zh-CN': '如果这不是您的请求，请忽略此邮件；不会发生任何更改。',
};

const ACT: Record<MailLocale, string> = {
  en: 'If this was not you, set a new password at once and look through your sessions, tokens and keys:',
  'zh-CN': '如果这不是您本人的操作，请立即设置新密码，并检查您的会话、令牌和密钥：',
};

/** A locale that mails are written in; English for all others. */
export function mailLocaleOf(locale: string): MailLocale {
  return locale === 'zh-CN' ? 'zh-CN' : 'en';
}

/** A letter around one link. */
export function letterWords(kind: LetterKind, locale: MailLocale, link: string): Words {
  const [subject, sentence] = LETTERS[kind][locale];
  return { subject, text: [sentence, link, IGNORE[locale]].join('\n\n') };
}

/** A notice: what happened, when, from where, and what to do if it was somebody else. */
export function noticeWords(
  kind: NoticeKind,
  locale: MailLocale,
  { at, ip, link }: { at: string; ip: string | null; link: string },
): Words {
  const [subject, sentence] = NOTICES[kind][locale];
  const where = ip ? `${at} · ${ip}` : at;
  return { subject, text: [sentence, where, ACT[locale], link].join('\n\n') };
}
