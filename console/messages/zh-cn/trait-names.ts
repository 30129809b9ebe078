/** Simplified Chinese names of model traits, for the price list and the Playground. */
export const traitNames = {
  REASONING: '推理',
  TOOLS: '工具',
  FILES: '文件',
  VISION: '视觉',
  LONG_CONTEXT: '1M 上下文',
} as const;
