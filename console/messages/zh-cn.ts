import type { en } from './en.ts';
export const zhCN: Partial<Record<keyof typeof en, unknown>> = {};
