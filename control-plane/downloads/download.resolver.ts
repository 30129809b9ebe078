/** Links to downloads of the usage log and the ledger in the API, with the filters of its lists. */
import 'reflect-metadata';
import { Args, ArgsType, Ctx, Field, ID, InputType, ObjectType, Query, Resolver } from 'type-graphql';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { DateRange } from '../graphql/inputs.ts';
import { WebAddress } from '../graphql/scalars.ts';
import { UsageFilter } from '../usage/usage.types.ts';
import { LedgerKind } from '../wallet/wallet.types.ts';
import { downloadPath } from './address.ts';
import type { Download } from './address.ts';
import type { TableFormat } from './csv.ts';

const ExportFormat = describeEnum('ExportFormat', 'Format of a download.', {
  CSV: 'Comma-separated values (RFC 4180) with a header line.',
  JSONL: 'One JSON object per line.',
});
type ExportFormat = keyof typeof ExportFormat;

const FORMATS: Record<ExportFormat, TableFormat> = { CSV: 'csv', JSONL: 'jsonl' };

/** Link to a download. */
@ObjectType({
  description:
    'Link to a download. GET it with the session cookie of the browser or an access token. The rows are ' +
    'newest first, and permission is checked at the download.',
})
export class ExportLink {
  @Field(() => WebAddress, { description: 'Address of the download.' })
  downloadUrl!: string;

  @Field(() => ExportFormat, { description: 'Format of the download.' })
  format!: ExportFormat;
}

/** Filter of ledger entries; all conditions must hold. */
@InputType({ description: 'Filter of ledger entries; all conditions must hold.' })
export class LedgerFilter {
  @Field(() => DateRange, { nullable: true, description: 'Only entries in this range.' })
  range?: DateRange | null;

  @Field(() => [LedgerKind], { nullable: true, description: 'Only these kinds of entries.' })
  kinds?: LedgerKind[] | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Only entries of this user. Only administrators may name another user.',
  })
  userId?: string | null;
}

/** Arguments of all downloads. */
@ArgsType()
class ExportArguments {
  @Field(() => ExportFormat, { description: 'Format of the download.' })
  format!: ExportFormat;

  @Field(() => Boolean, { defaultValue: false, description: 'Rows of all users; administrators only.' })
  everybody!: boolean;
}

/** Arguments of a download of the usage log. */
@ArgsType()
class UsageExportArguments extends ExportArguments {
  @Field(() => UsageFilter, { nullable: true, description: 'Filter of the requests.' })
  filter?: UsageFilter | null;
}

/** Arguments of a download of the ledger. */
@ArgsType()
class LedgerExportArguments extends ExportArguments {
  @Field(() => LedgerFilter, { nullable: true, description: 'Filter of the entries.' })
  filter?: LedgerFilter | null;
}

/** Resolves links to downloads. */
@Resolver()
export class DownloadResolver {
  @Authorized('USER')
  @Query(() => ExportLink, {
    description: 'Download of the usage log: of the caller; for administrators, of any user or all users.',
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
    description: 'Download of the ledger: of the caller; for administrators, of any user or all users.',
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

/** The link. Permission is checked at the download, which answers 403 without it. */
function linkTo({ settings }: Context, format: ExportFormat, download: Omit<Download, 'format'>): ExportLink {
  const path = downloadPath({ ...download, format: FORMATS[format] });
  return { downloadUrl: `${settings.consoleUrl}${path}`, format };
}
