/** Simplified Chinese texts of the comparison of models. */
import type { compare as english } from '../en/compare.ts';
import type { Translation } from '../translation.ts';

export const compare: Translation<typeof english> = {
  compare: {
    sentence: '最多并排对比四个模型。用时和成功率取自所有客户的请求。',
    add: '添加模型',
    remove: '移除 {{name}}',
    unknown: '没有这个名称的模型。请从列表中选择。',
    health: '状态',
    uptime: '90 天可用率',
  },
};
