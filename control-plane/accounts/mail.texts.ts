/**
 * Texts of the mails about accounts, in the languages of the console. They contain nothing that a user can
 * choose, such as a name: somebody who enters another person's address must not be able to send a message.
 */

/** Languages of the mails. */
export type MailLocale = 'en' | 'zh-CN';

/** Subject and body of a mail, as plain text. */
export interface MailText {
  subject: string;
  text: string;
}

/** Kinds of mails that answer a request; `taken` says that the address already has an account. */
export type LinkMailKind = 'register' | 'taken' | 'reset' | 'verify' | 'change';

/** Events of an account that its owner is notified of. */
export type NoticeKind =
  | 'NEW_NETWORK'
  | 'PASSWORD_CHANGED'
  | 'PASSWORD_CHANGED_SESSIONS_KEPT'
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
type Opening = readonly [string, string];

const LINK_MAILS: Record<LinkMailKind, Record<MailLocale, Opening>> = {
  register: {
    en: [
      'Confirm your e-mail address',
      'Open this link within 24 hours to confirm your e-mail address and finish your registration:',
    ],
    'zh-CN': ['确认您的邮箱地址', '请在 24 小时内打开此链接，确认邮箱地址并完成注册：'],
  },
  taken: {
    en: [
      'You already have an account',
      'An account with this e-mail address already exists. Open this page to sign in or set a new password:',
    ],
    'zh-CN': ['您已有账户', '使用此邮箱地址的账户已存在。请打开此页面登录，或设置新密码：'],
  },
  reset: {
    en: ['Set a new password', 'Open this link within one hour to set a new password. The link works once:'],
    'zh-CN': ['设置新密码', '请在一小时内打开此链接以设置新密码。链接仅可使用一次：'],
  },
  verify: {
    en: [
      'Confirm your e-mail address',
      'Open this link within 24 hours to confirm the e-mail address of your account:',
    ],
    'zh-CN': ['确认您的邮箱地址', '请在 24 小时内打开此链接以确认账户的邮箱地址：'],
  },
  change: {
    en: [
      'Confirm your new e-mail address',
      'Open this link within 24 hours. You then sign in to your account with this e-mail address:',
    ],
    'zh-CN': [
      '确认您的新邮箱地址',
      '请在 24 小时内打开此链接，将此地址设为您账户的邮箱地址；此后请使用此地址登录：',
    ],
  },
};

const NOTICES: Record<NoticeKind, Record<MailLocale, Opening>> = {
  NEW_NETWORK: {
    en: ['New sign-in', 'Somebody signed in to your account from a network that was not used before.'],
    'zh-CN': ['新的登录', '有人从一个此前未使用过的网络登录了您的账户。'],
  },
  PASSWORD_CHANGED: {
    en: [
      'Your password was changed',
      'The password of your account was changed. All other sessions were signed out.',
    ],
    'zh-CN': ['您的密码已更改', '您账户的密码已更改，其他会话均已退出登录。'],
  },
  PASSWORD_CHANGED_SESSIONS_KEPT: {
    en: [
      'Your password was changed',
      'The password of your account was changed. Other sessions stay signed in.',
    ],
    'zh-CN': ['您的密码已更改', '您账户的密码已更改，其他会话仍保持登录。'],
  },
  PASSWORD_RESET: {
    en: [
      'Your password was reset',
      'A new password was set by a link. All earlier sessions were signed out.',
    ],
    'zh-CN': ['您的密码已重置', '已通过链接设置新密码，之前的会话均已退出登录。'],
  },
  TOTP_ON: {
    en: ['Authenticator app added', 'From now on you need a code of your authenticator app to sign in.'],
    'zh-CN': ['已添加身份验证器', '今后登录时需要输入身份验证器应用的验证码。'],
  },
  TOTP_OFF: {
    en: ['Authenticator app removed', 'You no longer need a code of your authenticator app to sign in.'],
    'zh-CN': ['已移除身份验证器', '今后登录时不再需要身份验证器应用的验证码。'],
  },
  TOKEN_CREATED: {
    en: ['Access token created', 'An access token for scripts was created for your account.'],
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
    en: ['Identity linked', 'You can now sign in to your account with an identity of your provider.'],
    'zh-CN': ['已关联登录方式', '现在可以使用身份提供商的身份登录您的账户。'],
  },
  IDENTITY_UNLINKED: {
    en: ['Identity unlinked', 'An identity of your provider can no longer sign in to your account.'],
    'zh-CN': ['已解除登录方式关联', '身份提供商的一个身份不再能登录您的账户。'],
  },
  EMAIL_CHANGED: {
    en: [
      'Your e-mail address was changed',
      'The e-mail address of your account was changed. You can no longer sign in with this address.',
    ],
    'zh-CN': ['您的邮箱地址已更改', '您账户的邮箱地址已更改，此地址不能再用于登录。'],
  },
  DATA_EXPORTED: {
    en: ['Your data was exported', 'A download of the data of your account was requested.'],
    'zh-CN': ['您的数据已导出', '有人请求下载您账户的数据。'],
  },
};

const IGNORE: Record<MailLocale, string> = {
  en: 'If you did not request this, ignore this mail. Nothing will change.',
  'zh-CN': '如果这不是您的请求，请忽略此邮件；不会发生任何更改。',
};

const ACT: Record<MailLocale, string> = {
  en: 'If this was not you, set a new password at once, and check your sessions, tokens and keys:',
  'zh-CN': '如果这不是您本人的操作，请立即设置新密码，并检查您的会话、令牌和密钥：',
};

/** The language of mails for a locale; English if mails are not translated into it. */
export function mailLocaleOf(locale: string): MailLocale {
  return locale === 'zh-CN' ? 'zh-CN' : 'en';
}

/** Text of a mail with one link. */
export function linkMailText(kind: LinkMailKind, locale: MailLocale, link: string): MailText {
  const [subject, sentence] = LINK_MAILS[kind][locale];
  return { subject, text: [sentence, link, IGNORE[locale]].join('\n\n') };
}

/** Text of a notice: what happened, when (`at`), from which IP, and what to do if it was somebody else. */
export function noticeText(
  kind: NoticeKind,
  locale: MailLocale,
  { at, ip, link }: { at: string; ip: string | null; link: string },
): MailText {
  const [subject, sentence] = NOTICES[kind][locale];
  const origin = ip ? `${at} · ${ip}` : at;
  return { subject, text: [sentence, origin, ACT[locale], link].join('\n\n') };
}
