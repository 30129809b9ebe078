/** Simplified Chinese texts around the privacy policy: versions, providers, retention. */
import type { Translation } from '../translation.ts';
import type { privacy as english } from '../en/privacy.ts';

export const privacy: Translation<typeof english> = {
  policy: {
    newPolicy: '隐私政策 {{version}} 已生效。阅读并接受后继续。',
    accept: '接受版本 {{version}}',
    title: '隐私政策',
    version: '版本 {{version}}，生效日期',
    fingerprint: '全文的 SHA-256',
    failed: '隐私政策无法加载',
    failedSafe: '你已接受的版本继续有效。',
    asPage: '在页面中打开',
    gateTitle: '隐私政策 {{version}} 已生效',
    gateSentence: '接受后方可继续。在此期间密钥照常可用。',
    gateOut: '导出数据或注销账户',
    changes: '变更内容',
  },
  privacy: {
    print: '打印',
    version: '版本 {{version}}',
    former: '版本 {{version}}，生效日期',
    inForce: '现行',
    replaced: '此版本已由版本 {{version}} 取代。',
    readCurrent: '阅读现行版本',
    versions: '所有版本',
    difference: '与版本 {{version}} 的差异',
    changedLines: '更改的行',
    providers: '上游提供方收到什么',
    providersSentence: '每个请求都会发往所指定模型的提供方。',
    receive: '提供方会收到请求的全部内容：消息、文件、工具、设置。',
    receiveNot: '网关不会把你的邮箱地址、密钥或 IP 地址交给提供方。',
    terms: '提供方按其自身条款处理这些内容。',
    retention: '数据保存多久',
    what: '内容',
    howLong: '期限',
    usageDropped_other: '按整月保存，至月末后 {{count}} 天；汇总与扣费记录继续保留',
    kept: {
      prompts: { what: '使用密钥的请求的提示与回复', long: '从不保存' },
      usage: {
        what: '用量日志：模型、词元、费用、请求编号、IP 地址',
        long: '本网关运行期间；不删除任何月份',
      },
      ledger: { what: '账本与收据', long: '记账所要求的期限' },
      sessions: { what: '已登录的浏览器', long: '直到 14 天未使用，最长 90 天' },
      links: { what: '邮件链接', long: '直到使用，最长 24 小时' },
      chats: { what: '开启存储时的 Playground 对话及其衍生内容', long: '直到你删除或注销账户' },
      record: { what: '已接受的版本、管理员的操作', long: '网关运行期间' },
    },
  },
};
