/** Where to download tables from, on the API: the same conditions as its lists. */
import 'reflect-metadata';
import { Args, ArgsType, Ctx, Field, ID, InputType, ObjectType, Query, Resolver } from 'type-graphql';
import { Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { describeEnum } from '../enums.ts';
import { DateRange } from '../inputs.ts';
import { WebAddress } from '../scalars.ts';
import { UsageFilter } from '../usage/usage.types.ts';
import { LedgerKind } from '../wallet/wallet.types.ts';
import { downloadPath } from './address.ts';
import type { Download } from './address.ts';
import type { TableFormat } from './csv.ts';

export const ExportFormat = describeEnum('ExportFormat', 'Forms of a download.', {
  CSV: 'Comma-separated values, RFC 4180, with a line of names.',
  JSONL: 'One JSON object a line.',
});
type ExportFormat = keyof typeof ExportFormat;

const FORMATS: Record<ExportFormat, TableFormat> = { CSV: 'csv', JSONL: 'jsonl' };

/** Where a table can be downloaded. */
@ObjectType({
  description:
    'Where a table can be downloaded: GET it with the session of the browser or with the access token. ' +
    'It is written while it is read, newest lines first, and permission is checked then.',
})
export class ExportLink {
  @Field(() => WebAddress, { description: 'Its address.' })
  downloadUrl!: string;

  @Field(() => ExportFormat, { description: 'Its form.' })
  format!: ExportFormat;
}

/** Which entries of the ledger. */
@InputType({ description: 'Which entries of the ledger; several conditions hold together.' })
export class LedgerFilter {
  @Field(() => DateRange, { nullable: true, description: 'Only from this span.' })
  range?: DateRange | null;

  @Field(() => [LedgerKind], { nullable: true, description: 'Only of these kinds.' })
  kinds?: LedgerKind[] | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Only of this user. For administrators; others see their own alone.',
  })
  userId?: string | null;
}

/** Form of a download, and whether it is about everybody. */
@ArgsType()
class ExportArguments {
  @Field(() => ExportFormat, { description: 'CSV or JSON.' })
  format!: ExportFormat;

  @Field(() => Boolean, { defaultValue: false, description: 'Of all users: for administrators.' })
  everybody!: boolean;
}

/** Which part of the usage log, and in which form. */
@ArgsType()
export class UsageExportArguments extends ExportArguments {
  @Field(() => UsageFilter, { nullable: true, description: 'Which requests.' })
  filter?: UsageFilter | null;
}

/** Which part of the ledger, and in which form. */
@ArgsType()
export class LedgerExportArguments extends ExportArguments {
  @Field(() => LedgerFilter, { nullable: true, description: 'Which entries.' })
  filter?: LedgerFilter | null;
}

/** Links to downloads. */
@Resolver()
export class DownloadResolver {
  @Authorized('USER')
  @Query(() => ExportLink, {
    description: 'The usage log as a file: of the caller, of `userId`, or for administrators of everybody.',
  })
  usageExport(
    @Ctx() context: Context,
    @Args(() => UsageExportArguments) { filter, format, everybody }: UsageExportArguments,
  ): ExportLink {
    const { range = null, userId, ...usage } = filter ?? {};
    const owner = everybody ? null : (userId ?? undefined);
    return linkTo(context, format, { table: 'usage', userId: owner, range, kinds: null, usage });
  }

  @Authorized('USER')
  @Query(() => ExportLink, {
    description: 'The ledger as a file: of the caller, of `userId`, or for administrators of everybody.',
  })
  ledgerExport(
    @Ctx() context: Context,
    @Args(() => LedgerExportArguments) { filter, format, everybody }: LedgerExportArguments,
  ): ExportLink {
    const { range = null, kinds = null, userId } = filter ?? {};
    const owner = everybody ? null : (userId ?? undefined);
    return linkTo(context, format, { table: 'ledger', userId: owner, range, kinds, usage: {} });
  }
}

/** Permission is checked at the download; a link to what is not allowed leads to 403. */
function linkTo({ settings }: Context, format: ExportFormat, download: Omit<Download, 'format'>): ExportLink {
  const path = downloadPath({ ...download, format: FORMATS[format] });
  return { downloadUrl: `${settings.consoleUrl}${path}`, format };
}
