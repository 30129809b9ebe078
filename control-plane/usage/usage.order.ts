/** GraphQL input of the order of requests. */
import 'reflect-metadata';
import { Field, InputType } from 'type-graphql';
import { describeEnum, SortDirection } from '../graphql/enums.ts';

export const UsageOrderField = describeEnum('UsageOrderField', 'What requests are sorted by.', {
  CREATED_AT: 'When the request finished.',
});

/** Order of requests. */
@InputType({ description: 'Order of requests.' })
export class UsageOrderInput {
  @Field(() => UsageOrderField, { description: 'What to sort by.' })
  field!: keyof typeof UsageOrderField;

  @Field(() => SortDirection, { description: 'Direction.' })
  direction!: keyof typeof SortDirection;
}
