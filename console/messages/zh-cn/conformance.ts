/** Simplified Chinese texts of the page about conformance. */
import type { conformance as english } from '../en/conformance.ts';
import type { Translation } from '../translation.ts';

export const conformance: Translation<typeof english> = {
  conformance: {
    title: '一致性',
    sentence:
      '客户端和上游各使用四种格式之一。本页列出每一对格式之间有多少条录制的请求和响应保持不变，以及哪些客户端已在本网关上运行过。',
    traffic: '录制的流量',
    trafficNote: '在两种格式都能表达的内容中通过的数量：响应、请求和错误。测量日期：{{day}}。',
    client: '客户端格式',
    over: '上游：{{format}}',
    formats: {
      'openai-chat': 'chat completions',
      'openai-responses': 'responses',
      'anthropic-messages': 'messages',
      'google-generate': 'generative language',
    },
    share: '{{passed}} / {{total}}',
    answers: '响应',
    requests: '请求',
    errors: '错误',
    streams: '有效的流：按录制原样 {{whole}}，按其他大小切片后 {{odd}}。',
    clients: '客户端',
    clientsNote: '每个客户端都在四种格式的上游上运行过。',
    name: '客户端',
    version: '版本',
    passed: '通过的上游格式',
    failed: '失败的上游格式',
    day: '运行日期',
    none: '无',
    notRun: '未运行',
    suites: '第三方测试',
    suite: '测试',
    result: '结果',
    exceptions: '例外',
  },
};
