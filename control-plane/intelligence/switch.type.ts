/** API types of the switches of Personal Intelligence. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import { describeEnum } from '../enums.ts';
import { UserError } from '../errors.ts';
import { DateTime } from '../scalars.ts';
import type { PersonalKind } from './switch.entity.ts';

export const PersonalItemKind = describeEnum<PersonalKind>(
  'PersonalItemKind',
  'What the Playground may learn from chats.',
  {
    DURABLE_ROUTINE: 'Repeated ways of working.',
    PREFERENCE_PROFILE: 'Tone, format, languages and tools asked for.',
    CONVERSATION_SUMMARY: 'A short summary of each chat.',
    WORKING_ON: 'Open threads with their next step.',
  },
);

/** One of the four switches. */
@ObjectType({ description: 'One of the four switches of Personal Intelligence.' })
export class PersonalSwitch {
  @Field(() => PersonalItemKind, { description: 'What it is for.' })
  kind!: PersonalKind;

  @Field(() => Boolean, { description: 'Whether it is on. All are off at first.' })
  enabled!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it was turned last; null for never.' })
  changedAt?: Date | null;
}

/** Personal Intelligence of a user. */
@ObjectType({
  description: 'Personal Intelligence of a user: four switches, and what they mean for the storing of chats.',
})
export class PersonalIntelligence {
  /** Not a field: whose it is. */
  userId!: string;

  @Field(() => Boolean, { description: 'Whether chats of the Playground are stored: while a switch is on.' })
  storing!: boolean;

  @Field(() => [PersonalSwitch], { description: 'All four switches.' })
  switches!: PersonalSwitch[];
}

/** Turns one switch. */
@InputType({ description: 'Turns one switch.' })
export class PersonalSwitchInput {
  @Field(() => PersonalItemKind, { description: 'Which one.' })
  kind!: PersonalKind;

  @Field(() => Boolean, { description: 'On or off; holds from the next message.' })
  enabled!: boolean;
}

/** Result of turning a switch. */
@ObjectType({ description: 'Result of turning a switch.' })
export class PersonalIntelligencePayload {
  @Field(() => PersonalIntelligence, { nullable: true, description: 'How it stands now.' })
  personalIntelligence?: PersonalIntelligence | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
