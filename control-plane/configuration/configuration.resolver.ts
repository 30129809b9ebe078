/** The configuration of the whole installation as one file: its export, and applying a file. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { actorOf, Authorized, isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import type { AccessScope } from '../graphql/enums.ts';
import { outcome, requestError, UserError, UserFailure } from '../graphql/errors.ts';
import { AnyJson } from '../graphql/scalars.ts';
import { applyConfiguration } from './apply.ts';
import { actionOf, fieldsOf } from './change.ts';
import type { Change } from './change.ts';
import { exportDocument } from './export.ts';
import type { SectionName } from './export.ts';
import { DocumentError } from './shape.ts';
import { readState } from './state.ts';
import type { ConfigurationDocument } from './document.ts';
import { readDocument, writeDocument } from './yaml.ts';

/** The scope that a token needs for each section. */
const SECTION_SCOPES: Readonly<Record<SectionName, AccessScope>> = {
  groups: 'ADMIN_CATALOG',
  models: 'ADMIN_CATALOG',
  upstreams: 'ADMIN_UPSTREAMS',
  routes: 'ADMIN_UPSTREAMS',
  storefront: 'ADMIN_STOREFRONT',
  policy: 'ADMIN_USERS',
  payments: 'ADMIN_WALLET',
  personalIntelligence: 'ADMIN_UPSTREAMS',
  limits: 'ADMIN_NODES',
};

const ConfigurationAction = describeEnum('ConfigurationAction', 'What happens to an object.', {
  CREATE: 'It is created.',
  UPDATE: 'It is changed.',
  REMOVE: 'It is deleted.',
});

/** A secret that a configuration file refers to. */
@InputType({ description: 'A secret that a configuration file refers to.' })
class ConfigurationSecretInput {
  @Field(() => String, { description: 'The reference in the file, e.g. env:OPENAI_KEY.' })
  reference!: string;

  @Field(() => String, { description: 'The secret. It is stored encrypted and never shown again.' })
  secret!: string;
}

/** Input of `adminConfigurationApply`. */
@InputType({ description: 'A configuration file to apply.' })
class AdminConfigurationInput {
  @Field(() => String, { description: 'The file: YAML 1.2 or JSON; see docs/configuration.md.' })
  document!: string;

  @Field(() => [ConfigurationSecretInput], { description: 'The secrets that the file refers to.' })
  secrets!: ConfigurationSecretInput[];

  @Field(() => Boolean, { description: 'Whether only to check the file and return the changes.' })
  dryRun!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The state that a dry run returned: STALE_VERSION if the configuration has changed since.',
  })
  expectedState?: string | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** One changed field. */
@ObjectType({ description: 'One changed field. Secrets are never shown.' })
class ConfigurationFieldChange {
  @Field(() => String, { description: 'Name of the field in the file.' })
  name!: string;

  @Field(() => AnyJson, { nullable: true, description: 'The value before.' })
  before?: unknown;

  @Field(() => AnyJson, { nullable: true, description: 'The value afterwards.' })
  after?: unknown;
}

/** One change of a configuration file. */
@ObjectType({ description: 'A change that a configuration file makes.' })
class ConfigurationChange {
  @Field(() => String, { description: 'Kind of the object, e.g. model.' })
  kind!: string;

  @Field(() => String, { description: 'Name of the object; empty for a section with one object.' })
  name!: string;

  @Field(() => ConfigurationAction, { description: 'What happens to it.' })
  action!: keyof typeof ConfigurationAction;

  @Field(() => [ConfigurationFieldChange], { description: 'Its changed fields.' })
  fields!: ConfigurationFieldChange[];
}

/** Result of `adminConfigurationApply`. */
@ObjectType({ description: 'Result of applying a configuration file.' })
class AdminConfigurationPayload {
  @Field(() => [ConfigurationChange], {
    nullable: true,
    description: 'The changes, empty if the file says what is so already; null if the file is refused.',
  })
  changes?: ConfigurationChange[] | null;

  @Field(() => String, { nullable: true, description: 'Hash of the configuration before the changes.' })
  state?: string | null;

  @Field(() => [UserError], { description: 'Why nothing has changed.' })
  userErrors!: UserError[];
}

/** Applies a configuration file. */
@Resolver()
export class ConfigurationResolver {
  @Authorized('ADMIN')
  @Mutation(() => AdminConfigurationPayload, {
    description:
      'Makes the configuration as a file says, all of it or nothing. A token needs the scope of each ' +
      'section that the file has.',
  })
  adminConfigurationApply(
    @Ctx() context: Context,
    @Arg('input', () => AdminConfigurationInput, { description: 'The file.' }) input: AdminConfigurationInput,
  ): Promise<AdminConfigurationPayload> {
    return outcome({ changes: null, state: null }, async () => {
      const document = parsed(input.document);
      requireScopes(context, document);
      const secrets = new Map(input.secrets.map(({ reference, secret }) => [reference, secret]));
      const { dryRun, reason, expectedState = null } = input;
      const by = { actor: actorOf(context), settings: context.settings };
      const { changes, state } = await applyConfiguration(
        context.em,
        { document, secrets, dryRun, reason, expectedState },
        by,
      );
      return { changes: changes.map(shown), state };
    });
  }
}

/** Exports the configuration. */
@Resolver(() => AdminQuery)
export class ConfigurationExportResolver {
  @FieldResolver(() => String, {
    description:
      'The configuration as a file for adminConfigurationApply, without secrets. Sections for which the ' +
      'token has no scope are left out.',
  })
  async configuration(@Ctx() context: Context): Promise<string> {
    const state = await readState(context.em, context.settings.secretKey);
    return writeDocument(exportDocument(state, (name) => isAdminFor(context, SECTION_SCOPES[name])));
  }
}

function parsed(source: string): ConfigurationDocument {
  try {
    return readDocument(source);
  } catch (error) {
    if (error instanceof DocumentError) throw new UserFailure('INVALID', error.message, 'document');
    throw error;
  }
}

/** Throws FORBIDDEN if the caller's token lacks the scope of a section of the file. */
function requireScopes(context: Context, document: ConfigurationDocument): void {
  for (const [section, scope] of Object.entries(SECTION_SCOPES) as [SectionName, AccessScope][]) {
    if (document[section] === undefined || isAdminFor(context, scope)) continue;
    const message = `The section ${section} needs the scope ${scope}. Use a token with it, or leave it out.`;
    throw requestError('FORBIDDEN', message, { requiredScope: scope });
  }
}

function shown(change: Change): ConfigurationChange {
  return { kind: change.kind, name: change.name, action: actionOf(change), fields: fieldsOf(change) };
}
