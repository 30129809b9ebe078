/** 单个请求收据的用语。 */
import type { receipt as english } from '../en/receipt.ts';
import type { Translation } from '../translation.ts';

export const receipt: Translation<typeof english> = {
  usage: {
    receipt: '收据',
    receiptClose: '关闭收据',
    receiptFailed: '收据无法加载',
    receiptTime: '时间',
    why: {
      DELIVERED: '完整的回答已送达。',
      CLIENT_LEFT: '内容已转发后客户端离开：计费。',
      KEY_CUT: '内容已转发后密钥被所有者停用：计费。',
      OPERATOR_CUT: '内容已转发后密钥或其账户被运营方停止：免费。',
      NO_CONTENT: '在转发任何内容之前结束：免费。',
      UPSTREAM_FAILED: '供应商或网关中断了它：免费。',
      REFUSED: '在询问供应商之前被拒绝：免费。',
      THROTTLED: '超过了限制：免费。',
      PROVIDER_REFUSED: '供应商拒绝了请求本身：免费。',
    },
    tried: '尝试过的上游',
    triedOmitted_other: '其间另有 {{count}} 次未列出。',
    turns: {
      ANSWERED: '已回答',
      BROKE_OFF: '中途断开',
      FAILED: '失败',
      CUT: '回答时被切断',
      SKIPPED: '未询问：无法使用',
      EJECTED: '未询问：失败次数过多',
      RESTING: '未询问：对方要求暂停',
      FULL: '未询问：请求过多',
    },
    family: '接口类别',
    price: '价格，分组 {{group}} ×{{ratio}}',
    httpStatus: 'HTTP 状态',
    errorCode: '错误代码',
    charged: '已计费',
    paidBy: '付款方',
    settlements: { LEASE: '钱包，来自为其占用的额度', WALLET: '钱包，在该额度结束之后', WRITEOFF: '运营者' },
    transaction: '账目交易',
    settledAt: '结算时间',
  },
};
