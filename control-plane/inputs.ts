/** Inputs and payloads that several domains share. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { UserError } from './errors.ts';
import { DateTime } from './scalars.ts';

/** Names one object. */
@InputType({ description: 'Names one object.' })
export class IdInput {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;
}

/** Names one object, and why an administrator changes it. */
@InputType({ description: 'Names one object, and why an administrator changes it.' })
export class AdminReasonInput {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** A span of time. */
@InputType({ description: 'A span of time.' })
export class DateRange {
  @Field(() => DateTime, { description: 'First moment.' })
  from!: Date;

  @Field(() => DateTime, { description: 'First moment after it.' })
  to!: Date;
}

/** Result of a change that returns no object. */
@ObjectType({ description: 'Result of a change that returns no object.' })
export class AckPayload {
  @Field(() => Boolean, { description: 'Whether it was done.' })
  ok!: boolean;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
