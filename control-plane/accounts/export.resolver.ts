/** GraphQL mutation that prepares a download of the caller's personal data. */
import 'reflect-metadata';
import { Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { DateTime, WebAddress } from '../graphql/scalars.ts';
import { exportPath } from './export.routes.ts';
import { requestExport } from './export.service.ts';

/** A download of the caller's personal data. */
@ObjectType({ description: "A file with the caller's data, as JSON." })
export class PersonalDataExport {
  @Field(() => WebAddress, {
    description: "Address of the download. It works once, and only in the caller's session.",
  })
  downloadUrl!: string;

  @Field(() => DateTime, { description: 'Until when the download must be started.' })
  expiresAt!: Date;
}

/** Result of `personalDataExport`. */
@ObjectType({ description: 'Result of requesting an export of personal data.' })
export class PersonalDataExportPayload {
  @Field(() => PersonalDataExport, { nullable: true, description: 'The file.' })
  export?: PersonalDataExport | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Export of personal data. */
@Resolver()
export class ExportResolver {
  @Authorized('USER')
  @Mutation(() => PersonalDataExportPayload, {
    description:
      "Prepares a JSON file, without secrets, with the caller's profile, policy acceptances, sessions, " +
      'access tokens, passkeys, linked identities, API keys, pools, wallet, usage log, switches and stored ' +
      'chats.',
  })
  personalDataExport(@Ctx() context: Context): Promise<PersonalDataExportPayload> {
    return outcome({ export: null }, async () => {
      const { id, expiresAt } = await requestExport(context.em, viewerOf(context).id, actorOf(context));
      return { export: { downloadUrl: context.settings.consoleUrl + exportPath(id), expiresAt } };
    });
  }
}
