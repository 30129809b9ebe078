/** The check of the ledger on the API: what must always hold, and what breaks it. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import type { Context } from '../context.ts';
import { DateTime } from '../scalars.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';

/** Something that breaks a rule. */
@ObjectType({ description: 'Something that breaks a rule of the ledger.' })
export class LedgerViolation {
  @Field(() => String, { description: 'What breaks it: the id of a transaction, an account, a request.' })
  subject!: string;

  @Field(() => String, { description: 'How, in figures of micro-USD.' })
  detail!: string;
}

/** A rule of the ledger. */
@ObjectType({ description: 'What must always hold of the ledger.' })
export class LedgerRule {
  @Field(() => String, { description: 'Its short name.' })
  rule!: string;

  @Field(() => String, { description: 'What it promises.' })
  promise!: string;

  @Field(() => [LedgerViolation], { description: 'What breaks it, at most 20; empty where it holds.' })
  violations!: LedgerViolation[];
}

/** What a check found. */
@ObjectType({ description: 'What a check of the whole ledger found, over one moment.' })
export class LedgerCheck {
  @Field(() => DateTime, { description: 'When it was made.' })
  checkedAt!: Date;

  @Field(() => [LedgerRule], { description: 'Every rule.' })
  rules!: LedgerRule[];
}

/** Checking on demand. */
@Resolver(() => AdminQuery)
export class LedgerCheckResolver {
  @FieldResolver(() => LedgerCheck, {
    description: 'Checks the whole ledger now; takes seconds on a large one.',
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
