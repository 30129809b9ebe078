/** English names of model traits, for the price list and the Playground. */
export const traitNames = {
  REASONING: 'Reasoning',
  TOOLS: 'Tools',
  FILES: 'Files',
  VISION: 'Vision',
  LONG_CONTEXT: '1M context',
} as const;
