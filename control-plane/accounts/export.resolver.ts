/** Taking one's data along, on the API. */
import 'reflect-metadata';
import { Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { actorOf, Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, UserError } from '../errors.ts';
import { DateTime, WebAddress } from '../scalars.ts';
import { exportPath } from './export.routes.ts';
import { requestExport } from './export.service.ts';

/** A file with the caller's data. */
@ObjectType({ description: "A file with the caller's data, as JSON." })
export class PersonalDataExport {
  @Field(() => WebAddress, {
    description: "Where this browser downloads it, once; nobody else's session can.",
  })
  downloadUrl!: string;

  @Field(() => DateTime, { description: 'Until when the download may be begun.' })
  expiresAt!: Date;
}

/** Result of asking for it. */
@ObjectType({ description: 'Result of asking for it.' })
export class PersonalDataExportPayload {
  @Field(() => PersonalDataExport, { nullable: true, description: 'The file.' })
  export?: PersonalDataExport | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Personal data as a file. */
@Resolver()
export class ExportResolver {
  @Authorized('USER')
  @Mutation(() => PersonalDataExportPayload, {
    description:
      'Profile, policy acceptances, sessions, tokens, keys without secrets, wallet, usage log, switches ' +
      'and stored chats of the caller, as one JSON file.',
  })
  personalDataExport(@Ctx() context: Context): Promise<PersonalDataExportPayload> {
    return outcome({ export: null }, async () => {
      const { id, expiresAt } = await requestExport(context.em, viewerOf(context).id, actorOf(context));
      return { export: { downloadUrl: context.settings.consoleUrl + exportPath(id), expiresAt } };
    });
  }
}
