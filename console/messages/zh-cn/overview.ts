/** Simplified Chinese texts of the administrators' overview. */
import type { overview as english } from '../en/overview.ts';
import type { Translation } from '../translation.ts';

export const overview: Translation<typeof english> = {
  admin: {
    overview: {
      sentence: '最近 24 小时，以及需要处理的事项。',
      attention: '需要处理',
      fine: '没有需要处理的事项',
      upstream: '上游 {{name}}',
      lastDay: '最近 24 小时',
      requests: '请求数',
      revenue: '扣费',
      failureRate: '失败率',
      before: '前 24 小时 {{value}}',
      byHour: '最近 24 小时，按小时',
      load: '每秒 {{rps}} 个请求，{{inflight}} 个进行中',
      hourTitle: '{{hour}}：{{cost}}，请求数：{{count}}',
      nothing: '最近 24 小时没有请求',
      others_other: '其他 {{count}} 个',
      topModels: '费用最高的模型',
      topUsers: '费用最高的用户',
      count_other: '{{count}} 个请求',
      open: '打开',
      steps: {
        node: '连接节点',
        upstream: '用提供方的凭据添加上游',
        route: '添加从模型到上游的路由',
        model: '发布带价格的模型',
      },
    },
  },
};
