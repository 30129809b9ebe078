/** The row of a switch of Personal Intelligence. No row means off. */
import { defineEntity, p } from '@mikro-orm/core';

/** What the Playground may learn from chats, each kind with a switch of its own. */
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
