/** GraphQL types of the switches of Personal Intelligence. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateTime } from '../graphql/scalars.ts';
import type { PersonalKind } from './switch.entity.ts';

export const PersonalItemKind = describeEnum<PersonalKind>(
  'PersonalItemKind',
  'What the Playground may learn from chats.',
  {
    DURABLE_ROUTINE: 'Recurring ways of working.',
    PREFERENCE_PROFILE: 'Preferred tone, format, languages and tools.',
    CONVERSATION_SUMMARY: 'A short summary of each chat.',
    WORKING_ON: 'Open tasks with their next step.',
  },
);

/** One of the four switches. */
@ObjectType({ description: 'One of the four switches of Personal Intelligence.' })
export class PersonalSwitch {
  @Field(() => PersonalItemKind, { description: 'What the switch allows.' })
  kind!: PersonalKind;

  @Field(() => Boolean, { description: 'Whether it is on. The default is off.' })
  enabled!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it was last changed; null for never.' })
  changedAt?: Date | null;
}

/** Personal Intelligence of a user. */
@ObjectType({
  description: 'Personal Intelligence of a user: its four switches, and whether chats are stored.',
})
export class PersonalIntelligence {
  /** The user; not a field of the API. */
  userId!: string;

  @Field(() => Boolean, {
    description: 'Whether chats of the Playground are stored. They are while any switch is on.',
  })
  storing!: boolean;

  @Field(() => [PersonalSwitch], { description: 'All four switches.' })
  switches!: PersonalSwitch[];
}

/** Input of `personalSwitchSet`. */
@InputType({ description: 'Turns one switch on or off.' })
export class PersonalSwitchInput {
  @Field(() => PersonalItemKind, { description: 'The switch.' })
  kind!: PersonalKind;

  @Field(() => Boolean, { description: 'Whether it is on, from the next message.' })
  enabled!: boolean;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether the items of a switch that is turned off are deleted.',
  })
  deleteExisting!: boolean;
}

/** Result of `personalSwitchSet`. */
@ObjectType({ description: 'Result of turning a switch on or off.' })
export class PersonalIntelligencePayload {
  @Field(() => PersonalIntelligence, {
    nullable: true,
    description: 'The switches after the change; null if the mutation failed.',
  })
  personalIntelligence?: PersonalIntelligence | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
