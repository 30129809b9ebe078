/** GraphQL inputs and payloads that several domains use. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { UserError } from './errors.ts';
import { DateTime } from './scalars.ts';

/** The id of one object. */
@InputType({ description: 'The id of one object.' })
export class IdInput {
  @Field(() => ID, { description: 'Id of the object.' })
  id!: string;
}

/** The id of an object that an administrator changes, and the reason. */
@InputType({ description: 'The id of an object that an administrator changes, and the reason.' })
export class AdminReasonInput {
  @Field(() => ID, { description: 'Id of the object.' })
  id!: string;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** A time range. */
@InputType({ description: 'A time range.' })
export class DateRange {
  @Field(() => DateTime, { description: 'Start of the range, included.' })
  from!: Date;

  @Field(() => DateTime, { description: 'End of the range, not included.' })
  to!: Date;
}

/** Result of a mutation that returns no object. */
@ObjectType({ description: 'Result of a mutation that returns no object.' })
export class AckPayload {
  @Field(() => Boolean, { description: 'Whether the mutation succeeded.' })
  ok!: boolean;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
