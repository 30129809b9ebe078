/** The ledger check on the API, for administrators: all rules and their violations. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import type { Context } from '../graphql/context.ts';
import { DateTime } from '../graphql/scalars.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';

/** A violation of a ledger rule. */
@ObjectType({ description: 'A violation of a ledger rule.' })
export class LedgerViolation {
  @Field(() => String, {
    description: 'Id of the transaction, account, lease, journal or request that breaks the rule.',
  })
  subject!: string;

  @Field(() => String, { description: 'The numbers that do not match; amounts are in micro-USD.' })
  detail!: string;
}

/** A rule of the ledger and its violations. */
@ObjectType({ description: 'A rule that the ledger always has to keep.' })
export class LedgerRule {
  @Field(() => String, { description: 'Short name, e.g. I1.' })
  rule!: string;

  @Field(() => String, { description: 'What the rule guarantees.' })
  promise!: string;

  @Field(() => [LedgerViolation], { description: 'Violations, at most 20; empty if the rule holds.' })
  violations!: LedgerViolation[];
}

/** Result of a ledger check. */
@ObjectType({ description: 'Result of a check of the whole ledger, read from one snapshot.' })
export class LedgerCheck {
  @Field(() => DateTime, { description: 'When the check started.' })
  checkedAt!: Date;

  @Field(() => [LedgerRule], { description: 'All rules, with their violations.' })
  rules!: LedgerRule[];
}

/** Checks the ledger on demand. */
@Resolver(() => AdminQuery)
export class LedgerCheckResolver {
  @FieldResolver(() => LedgerCheck, {
    description: 'Checks the whole ledger now; takes seconds on a large ledger.',
  })
  async ledgerCheck(@Ctx() context: Context): Promise<LedgerCheck> {
    const checkedAt = new Date();
    const violations = await checkInvariants(context.em);
    const rules = INVARIANTS.map(({ rule, promise }) => ({
      rule,
      promise,
      violations: violations.filter((violation) => violation.rule === rule),
    }));
    return { checkedAt, rules };
  }
}
