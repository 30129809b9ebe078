/** Simplified Chinese texts of the page of one model, and of the command palette. */
import type { personal as english } from '../en/personal.ts';
import type { Translation } from '../translation.ts';

export const personal: Translation<typeof english> = {
  model: {
    try: '在 Playground 中试用',
    copyName: '复制名称',
    health: { OK: '正常', DEGRADED: '降级', DOWN: '不可用', UNKNOWN: '尚无数据' },
    lastDay: '最近 24 小时',
    succeeded: '成功',
    share: '{{value}}%',
    p50: '回复用时中位数（p50）',
    p95: '回复用时（p95）',
    modalities: {
      text: '文本',
      image: '图像',
      audio: '音频',
      file: '文件',
      video: '视频',
      embedding: '嵌入',
      other: '{{name}}',
    },
    deprecated: '此模型已弃用。',
    retires: '它将于 {{time}} 停止应答。',
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
    priceNote: '密钥的分组决定价格。失败的请求免费。',
    state: '存储的状态',
    stateKept: '按请求存储',
    stateRetention: '最长保留',
    stateDays_other: '{{count}} 天',
    stateNote:
      '仅当请求要求时，模型的供应商才会存储响应、会话或缓存内容。网关不存储任何内容。' +
      '读取和删除免费；缓存内容按一次请求计费。',
    noStateNote: '供应商不存储任何内容。请在每次请求中发送完整的对话。',
    properties: '属性',
    longest: '最长回复',
    input: '输入',
    output: '输出',
  },
  palette: {
    title: '搜索或执行命令',
    createKey: '创建密钥',
    shortcuts: '键盘快捷键',
    actions: {
      palette: '搜索或执行命令',
      search: '搜索页面上的列表',
      sheet: '显示此列表',
      close: '关闭对话框或菜单',
      days: '在图表的日期之间移动',
    },
    single: '启用单键快捷键',
  },
};
