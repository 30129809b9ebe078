/** 框架、列表与失败的用语。 */
import type { frame as english } from '../en/frame.ts';
import type { Translation } from '../translation.ts';

export const frame: Translation<typeof english> = {
  copy: {
    copy: '复制',
    copied: '已复制',
    press: '请按 Ctrl C',
    requestId: '复制请求编号',
    address: '复制基础地址',
    name: '复制 {{name}}',
    file: '复制 {{name}}',
  },
  dialog: { close: '关闭', cancel: '取消' },
  filter: { any: '全部', remove: '移除筛选条件“{{name}}”' },
  state: {
    nothingMatches: '没有符合条件的内容',
    clearFilters: '清除筛选',
    retry: '重试',
    loading: '正在加载',
    none: '无',
    never: '从未',
    live: '实时',
    reconnecting: '正在重新连接',
    asOf: '截至 {{time}}',
    older: '更早',
    newest: '回到最新',
  },
  shell: {
    skip: '跳到正文',
    work: '工作',
    spend: '费用',
    keys: '密钥',
    usage: '用量',
    wallet: '钱包',
    pricing: '价格',
    more: '更多',
    baseAddress: '基础地址',
    available: '可用',
    signOut: '退出登录',
    theme: '主题',
    language: '语言',
    policy: '隐私政策',
    main: '主导航',
    footer: '其他页面',
    themes: {
      system: '跟随系统',
      light: '浅色',
      dark: '深色',
    },
    empty:
      '可用余额为 $0.00。请求会返回 402。密钥和用量仍可查看。',
    frozen:
      '钱包已冻结，欠款付清后解冻。密钥和用量仍可查看。',
    unavailable: '控制台无法连接服务',
    unavailableSafe: '使用密钥的请求仍由节点照常处理。',
    newPolicy:
      '隐私政策 {{version}} 已生效。阅读并接受后继续。',
    accept: '接受版本 {{version}}',
    notFound: '没有这个页面',
    notFoundSentence: '地址可能有误。',
    home: '前往密钥',
    toConsole: '前往控制台',
    broken: '页面出错',
    brokenSafe: '没有任何更改。重新加载即可。',
  },
  policy: {
    title: '隐私政策',
    version: '版本 {{version}}，生效日期',
    fingerprint: '全文的 SHA-256',
    failed: '隐私政策无法加载',
    failedSafe: '已接受的版本继续有效。',
    changes: '变更内容',
  },
  errors: {
    INVALID: '某个值无效。',
    REQUIRED: '缺少某个值。',
    TAKEN: '已被占用。',
    NOT_FOUND: '它已不存在。',
    CONFLICT: '同一时刻有其他更改。请重试。',
    STALE_VERSION: '其他标签页已修改。请重新加载页面。',
    LIMIT_REACHED: '已达到上限。',
    GROUP_NOT_ALLOWED: '你的账户不能使用这个分组。',
    KEY_ALREADY_REVEALED:
      '密钥已显示过一次。轮换可得到新的密钥。',
    POLICY_NOT_ACCEPTED: '请接受隐私政策。',
    POLICY_VERSION_OUTDATED:
      '隐私政策已更新。请重新加载页面并阅读。',
    PASSWORD_WEAK:
      '请使用更长的密码：至少 12 个字符，种类不限。',
    PASSWORD_BREACHED:
      '此密码出现在公开的泄露名单中。请换一个。',
    CREDENTIALS_INVALID: '邮箱或密码错误。',
    TOTP_REQUIRED: '请输入验证器应用中的代码。',
    REAUTH_REQUIRED: '请重新登录后再试。',
    INSUFFICIENT_BALANCE: '余额不足。',
    IDEMPOTENCY_MISMATCH:
      '此前已用其他值提交过。请重新加载页面。',
    UNAUTHENTICATED: '请重新登录。',
    FORBIDDEN: '你的账户没有此权限。',
    RATE_LIMITED: '尝试次数过多。一分钟后再试。',
    NETWORK: '服务没有应答。尚不确定是否有更改；请重试。',
    INTERNAL_SERVER_ERROR: '服务出错。请重试。',
    claimInvalid:
      '此认领链接已使用，或已超过 24 小时。重新启动网关可得到新链接。',
  },
};
