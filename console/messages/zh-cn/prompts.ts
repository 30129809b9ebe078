/** Simplified Chinese texts of the settings of replies, prompt templates, and the comparison of models. */
import type { prompts as english } from '../en/prompts.ts';
import type { Translation } from '../translation.ts';

export const prompts: Translation<typeof english> = {
  prompts: {
    settings: {
      title: '回复设置',
      sentence: '用于本页的每条回复，直到重新加载。网关从不保存。',
      systemPrompt: '系统提示词',
      names: {
        TEMPERATURE: '温度',
        MAX_TOKENS: '最大词元数',
        TOP_P: 'Top P',
        EFFORT: '推理强度',
        STOP: '停止序列，每行一个',
        SEED: '随机种子',
      },
      hints: {
        temperature: '0 到 2。越高越随机。',
        maxTokens: '回复到此结束。',
        topP: '大于 0，最大为 1。',
        seed: '相同的种子使回复更相似。',
      },
      wrong: {
        systemPrompt: '请将系统提示词缩短到 50,000 个字符以内。',
        temperature: '请输入 0 到 2 之间的数字。',
        maxTokens: '请输入不小于 1 的整数。',
        topP: '请输入大于 0 且不超过 1 的数字。',
        stop: '最多输入 4 行，每行最多 200 个字符。',
        seed: '请输入整数。',
      },
      efforts: { NONE: '无', MINIMAL: '最低', LOW: '低', MEDIUM: '中', HIGH: '高' },
      byModel: '由模型决定',
      untaken: '{{model}} 不接受：{{names}}',
      clear: '清除',
      apply: '应用',
    },
    templates: {
      sentence: '只保存在此浏览器中，使用此浏览器的每个账户都能看到。',
      none: '还没有模板。模板包含可重复使用的系统提示词和消息。',
      use: '使用',
      useNamed: '使用 {{name}}',
      edit: '编辑 {{name}}',
      delete: '删除 {{name}}',
      create: '新建模板',
      createTitle: '新建提示词模板',
      editTitle: '编辑提示词模板',
      name: '名称',
      message: '消息',
      noName: '请输入名称。',
      takenName: '已有同名模板。请换一个名称。',
      cancel: '取消',
      save: '保存',
      import: '导入',
      export: '导出',
      imported_other: '已导入 {{count}} 个模板。',
      full: '未保存：此浏览器最多保存 {{count}} 个模板和 2 MB。请先删除一些。',
      badFile: '此文件中没有提示词模板。请选择从这里导出的文件。',
    },
    compare: {
      add: '添加模型',
      remove: '移除 {{model}}',
      stop: '停止 {{model}}',
      leave: '关闭对比',
      price_other: '{{count}} 个模型，每条消息 {{amount}}',
    },
  },
};
