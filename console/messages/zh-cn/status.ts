/** Simplified Chinese texts of the status page, and of the page where administrators write incidents. */
import type { status as english } from '../en/status.ts';
import type { Translation } from '../translation.ts';

export const status: Translation<typeof english> = {
  status: {
    title: '服务状态',
    sentence: '最近 90 天的可用率和事件。',
    calm: '没有未解决的事件',
    now: { DEGRADATION: '部分请求失败或变慢', OUTAGE: '大部分请求失败', MAINTENANCE: '正在维护' },
    atom: 'Atom 订阅',
    json: 'JSON 订阅',
    open: '未解决的事件',
    planned: '计划维护',
    past: '过往事件',
    pastNone: '最近 90 天没有事件。',
    models: '模型',
    families: '接口',
    rules:
      '每天的可用率是得到回答的请求所占的比例。因客户原因被拒绝的请求不计入。请求较少时，采用成功探测所占的比例。没有数据的日子显示为短横线。低于 99 % 显示为黄色，低于 95 % 显示为红色。',
    share: '{{value}} %',
    noData: '无数据',
    day: '{{day}}：{{share}}',
    lowest: '最低：{{day}} {{share}}',
    chart: '{{name}} 最近 90 天的可用率：{{share}}',
    ago: '90 天前',
    today: '今天',
    affects: '影响 {{names}}',
    everything: '所有模型和接口',
    window: '计划从 {{from}} 到 {{to}}',
    kinds: { DEGRADATION: '性能下降', OUTAGE: '中断', MAINTENANCE: '维护' },
    states: {
      INVESTIGATING: '调查中',
      IDENTIFIED: '已查明原因',
      MONITORING: '观察中',
      SCHEDULED: '已计划',
      IN_PROGRESS: '进行中',
      RESOLVED: '已解决',
    },
    failed: '无法加载服务状态',
    failedSafe: '请一分钟后重试。',
  },
};
