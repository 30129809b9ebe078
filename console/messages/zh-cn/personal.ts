/** 个人资料与单个模型页面的用语。 */
import type { personal as english } from '../en/personal.ts';
import type { Translation } from '../translation.ts';

export const personal: Translation<typeof english> = {
  model: {
    trail: '页面位置',
    try: '在 Playground 中试用',
    copyName: '复制名称',
    health: {
      OK: '正常',
      DEGRADED: '部分可用',
      DOWN: '不可用',
      UNKNOWN: '尚无观测',
    },
    lastDay: '最近 24 小时',
    succeeded: '成功',
    p50: '回复用时，半数以内',
    p95: '回复用时，95% 以内',
    modalities: {
      text: '文本',
      image: '图像',
      audio: '音频',
      file: '文件',
      video: '视频',
      embedding: '嵌入',
      other: '{{name}}',
    },
    deprecated: '该模型即将下线。',
    replacement: '请改用 {{name}}。',
    endpoints: '接口',
    family: '类别',
    path: '方法与路径',
    streaming: '流式',
    yes: '是',
    no: '否',
    connect: '连接工具',
    client: '客户端',
    price: '每次请求价格',
    free: '由密钥的分组决定。失败的请求免费。',
    properties: '属性',
    longest: '最长回复',
    reads: '输入',
    writes: '输出',
  },
  palette: {
    title: '跳转或执行',
    label: '页面或命令',
    shortcuts: '键盘快捷键',
    does: {
      palette: '跳转到页面或执行命令',
      search: '搜索当前列表',
      sheet: '显示快捷键',
      close: '关闭打开的内容',
      days: '在图表的日期之间移动',
    },
    single: '启用单键快捷键',
  },
};
