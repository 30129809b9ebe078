/** GraphQL input with the system prompt and the parameters of a reply. */
import 'reflect-metadata';
import { Field, Float, InputType, Int } from 'type-graphql';
import type { ChatEffort } from '@gateway/shared/chat-parameters';
import { ReplyEffort } from '../graphql/enums.ts';

/** Settings of a reply. */
@InputType({
  description: 'System prompt and parameters of a reply. They are sent to the model, and not stored.',
})
export class ReplySettingsInput {
  @Field(() => String, { nullable: true, description: 'Instructions to the model, before the messages.' })
  systemPrompt?: string | null;

  @Field(() => Float, { nullable: true, description: 'Randomness of the reply, 0 to 2.' })
  temperature?: number | null;

  @Field(() => Int, { nullable: true, description: 'Maximum number of tokens of the reply.' })
  maxTokens?: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Only the most likely tokens that together have this probability; above 0, at most 1.',
  })
  topP?: number | null;

  @Field(() => ReplyEffort, { nullable: true, description: 'How much the model reasons before it answers.' })
  effort?: ChatEffort | null;

  @Field(() => [String], { nullable: true, description: 'At most four texts that end the reply.' })
  stop?: string[] | null;

  @Field(() => Int, { nullable: true, description: 'The same seed makes replies more alike.' })
  seed?: number | null;
}
