/** 个人资料、帮助、模型与命令面板的用语。 */
import type { personal as english } from '../en/personal.ts';
import type { Translation } from '../translation.ts';

export const personal: Translation<typeof english> = {
  profile: {},
};
