/** Database row of a switch of Personal Intelligence. No row means off. */
import { defineEntity, p } from '@mikro-orm/core';

/** Kinds of information that the Playground may learn from chats. Each has its own switch. */
export const PERSONAL_KINDS = [
  'DURABLE_ROUTINE',
  'PREFERENCE_PROFILE',
  'CONVERSATION_SUMMARY',
  'WORKING_ON',
] as const;
export type PersonalKind = (typeof PERSONAL_KINDS)[number];

export const PersonalSwitchSchema = defineEntity({
  name: 'PersonalSwitch',
  tableName: 'personal_switch',
  properties: {
    userId: p.text().primary(),
    kind: p.text().$type<PersonalKind>().primary(),
    enabled: p.boolean(),
    changedAt: p.datetime(),
  },
});
