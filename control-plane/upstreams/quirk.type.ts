/** GraphQL types of quirks: how an upstream differs from the formats that it speaks. */
import 'reflect-metadata';
import { Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { QuirkKind } from '@gateway/shared/quirks';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';

const QuirkKindEnum = describeEnum<QuirkKind>('QuirkKind', 'What a quirk changes of a request.', {
  DROP: 'Removes the member.',
  RENAME: 'Gives the member the name in `other`.',
  CLAMP: 'Limits a number to `min` and `max`.',
  SET: 'Writes `value`.',
  REPLACE: 'Writes `value` in place of the value in `other`.',
  REASONING_ON: 'Writes `value` if the client asks for reasoning.',
  REASONING_OFF: 'Writes `value` if the client asks for no reasoning.',
  TOOL_NAMES:
    'Limits tool names to letters, digits and the characters in `value`, and to the length in `max`. ' +
    'Answers have the names of the client.',
  NO_SYSTEM: 'Gives system messages the role in `other`: developer, or user.',
  NO_PARALLEL_TOOLS: 'Asks for one tool call at a time.',
});

const MEMBER = 'Member of the upstream format, with dots between levels, e.g. `generationConfig.topK`.';
const OTHER = 'New name (RENAME), value to replace as JSON (REPLACE), or user or developer (NO_SYSTEM).';
const VALUE = 'Value as JSON, or the permitted characters of TOOL_NAMES.';
const MIN = 'Smallest number of CLAMP.';
const MAX = 'Largest number of CLAMP, or largest length of TOOL_NAMES.';

/** A quirk as the API shows it. */
@ObjectType({ description: 'How an upstream differs from the format that it speaks.' })
export class UpstreamQuirk {
  @Field(() => QuirkKindEnum, { description: 'What it changes.' })
  kind!: QuirkKind;

  @Field(() => String, { nullable: true, description: MEMBER })
  member!: string | null;

  @Field(() => String, { nullable: true, description: OTHER })
  other!: string | null;

  @Field(() => String, { nullable: true, description: VALUE })
  value!: string | null;

  @Field(() => Float, { nullable: true, description: MIN })
  min!: number | null;

  @Field(() => Float, { nullable: true, description: MAX })
  max!: number | null;
}

/** A quirk to save. */
@InputType({ description: 'A quirk to save. Leave out what its kind does not use.' })
export class UpstreamQuirkInput {
  @Field(() => QuirkKindEnum, { description: 'What it changes.' })
  kind!: QuirkKind;

  @Field(() => String, { nullable: true, description: MEMBER })
  member?: string | null;

  @Field(() => String, { nullable: true, description: OTHER })
  other?: string | null;

  @Field(() => String, { nullable: true, description: VALUE })
  value?: string | null;

  @Field(() => Float, { nullable: true, description: MIN })
  min?: number | null;

  @Field(() => Float, { nullable: true, description: MAX })
  max?: number | null;
}

/** Input of `adminQuirksSet`. */
@InputType({ description: 'The quirks of a provider or a route. They replace the earlier ones.' })
export class AdminQuirksInput {
  @Field(() => ID, { description: 'The provider or the route.' })
  id!: string;

  @Field(() => Int, { description: 'Version when it was read.' })
  version!: number;

  @Field(() => [UpstreamQuirkInput], { description: 'The rows, in the order in which nodes apply them.' })
  quirks!: UpstreamQuirkInput[];

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of `adminQuirksSet`. */
@ObjectType({ description: 'Result of a change of quirks.' })
export class QuirksPayload {
  @Field(() => [UpstreamQuirk], { nullable: true, description: 'The quirks; null if the mutation failed.' })
  quirks?: UpstreamQuirk[] | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
