/** Simplified Chinese texts of the receipt of one request. */
import type { receipt as english } from '../en/receipt.ts';
import type { Translation } from '../translation.ts';

export const receipt: Translation<typeof english> = {
  usage: {
    receipt: '收据',
    receiptFailed: '收据无法加载',
    receiptTime: '时间',
    outcomes: {
      DELIVERED: '完整的回答已送达。',
      CLIENT_LEFT: '客户端在内容发送后断开。已收费。',
      KEY_CUT: '密钥在内容发送后被所有者停用。已收费。',
      CLIENT_LEFT_FREE: '客户端在内容发送后断开。未收费。',
      KEY_CUT_FREE: '密钥在内容发送后被所有者停用。未收费。',
      OPERATOR_CUT: '密钥或账户在内容发送后被运营者停用。未收费。',
      NO_CONTENT: '请求在发送任何内容之前结束。未收费。',
      UPSTREAM_FAILED: '请求因我们这边的问题而失败。未收费。',
      REFUSED: '请求在询问提供方之前被拒绝。未收费。',
      THROTTLED: '请求超过了限制。未收费。',
      PROVIDER_REFUSED: '提供方拒绝了请求。未收费。',
    },
    attemptsTitle: '尝试过的上游',
    attemptsOmitted_other: '其间另有 {{count}} 次尝试未列出。',
    attempts: {
      ANSWERED: '已回答',
      BROKE_OFF: '回答中断',
      FAILED: '失败',
      CUT: '回答时被停止',
      LOST: '已停止：另一个上游先应答',
      SKIPPED: '已跳过：无法使用',
      EJECTED: '已跳过：失败次数过多',
      RESTING: '已跳过：对方要求暂停',
      FULL: '已跳过：请求过多',
    },
    family: '接口类别',
    price: '价格，分组 {{group}} ×{{ratio}}',
    httpStatus: 'HTTP 状态',
    errorCode: '错误代码',
    charged: '已计费',
    paidBy: '付款方',
    settlements: { LEASE: '钱包，来自预留额度', WALLET: '钱包，在预留额度结束之后', WRITEOFF: '运营者' },
    transaction: '账目交易',
    settledAt: '结算时间',
  },
};
