/** 登录、注册与认领的用语。 */
import type { account as english } from '../en/account.ts';
import type { Translation } from '../translation.ts';

export const account: Translation<typeof english> = {
  account: {
    signIn: '登录',
    newHere: '第一次来？',
    createLink: '创建账户',
    email: '邮箱',
    password: '密码',
    show: '显示',
    hide: '隐藏',
    stay: '保持登录',
    stayHint: '在此设备上 14 天，最长 90 天。',
    code: '验证器应用中的代码',
    codeHint: '六位数字，或一个恢复代码。',
    signingIn: '正在登录',
    create: '创建账户',
    haveOne: '已有账户？',
    createButton: '创建账户',
    creating: '正在创建',
    rule: '至少 12 个字符，种类不限',
    accept:
      '我接受<policy>隐私政策</policy>，版本 {{version}}',
    point1: '请求会完整发送给模型供应商',
    point2: '用量日志只记录元数据，从不记录提示内容',
    point3: '只有你开启后才会保存 Playground 对话',
    mustAccept: '接受隐私政策后才能创建账户。',
    emailNeeded: '请输入邮箱地址。',
    emailWrong: '这不是邮箱地址。',
    passwordNeeded: '请输入密码。',
    passwordShort: '请使用至少 12 个字符。',
    closed: '注册已关闭。请向运营者申请账户。',
    check: '请打开发送到 {{email}} 的邮件中的链接。',
    checkTitle: '确认你的地址',
    strength: {
      short: '太短',
      fair: '一般',
      good: '较强',
      strong: '强',
    },
    claim: '认领此网关',
    claimSentence: '你将成为管理员。此链接只能使用一次。',
    claimButton: '认领并登录',
    claiming: '正在认领',
    noToken:
      '此地址不含认领信息。请打开启动时显示的完整链接。',
    policyFailed: '隐私政策无法加载',
    policySafe: '没有发送任何内容。',
  },
};
