/** GraphQL operations of the catalog: public queries, and mutations for administrators. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { FAMILY_PATHS } from '@gateway/shared/catalog';
import { formatRatio, parseRatio } from '@gateway/shared/money';
import { connectionFrom, LongPageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized, isAdminFor, Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError, UserFailure } from '../graphql/errors.ts';
import { EVERYBODY } from '../database/events.ts';
import type { Event } from '../database/events.ts';
import { modelsByIds, ratiosForAll } from '../lookups.ts';
import {
  CATALOG_ADMINS,
  countModels,
  findModels,
  groupRatios,
  modelByName,
  modelsById,
  PUBLIC_STATES,
  setGroupRatio,
  setModelState,
  upsertModel,
} from './catalog.service.ts';
import { AdminModelInput, AdminModelStateInput } from './catalog.inputs.ts';
import {
  CatalogFilter,
  CatalogModel,
  CatalogModelConnection,
  CatalogModelPayload,
  GroupPrice,
  ModelDeprecation,
  ModelEndpoint,
} from './catalog.type.ts';
import { AdminGroupRatioInput, GroupRatio, GroupRatioPayload } from './ratio.type.ts';
import type { CatalogQuery } from './catalog.service.ts';
import type { GroupRatioRow } from './model.entity.ts';
import { pricesOf } from './model.record.ts';

const CURSORS = cursorsOf('models', 'INTEGER', 'TEXT');

/** Queries, mutations and fields of models and ratios. */
@Resolver(() => CatalogModel)
export class CatalogResolver {
  @Public()
  @Query(() => CatalogModelConnection, { description: 'Models in the order of the catalog.' })
  async catalog(
    @Ctx() context: Context,
    @Args(() => LongPageArguments) page: LongPageArguments,
    @Arg('filter', () => CatalogFilter, { nullable: true, description: 'Only models that match.' })
    filter: CatalogFilter | null,
  ): Promise<Connection<CatalogModel>> {
    const position = positionOf(page, CURSORS);
    const states = visibleStates(context, filter?.states);
    const where: CatalogQuery = Object.assign({}, filter, { states });
    const rows = await findModels(context.em, where, position);
    return connectionFrom(rows, {
      position,
      totalCount: () => countModels(context.em, where),
      cursor: (row) => CURSORS.encode([row.position, row.id]),
      node: (row) => row,
    });
  }

  @Public()
  @Query(() => CatalogModel, {
    nullable: true,
    description: 'The model with this exact name; null if unknown.',
  })
  catalogModel(
    @Ctx() context: Context,
    @Arg('name', () => String, { description: 'Exact name.' }) name: string,
  ): Promise<CatalogModel | null> {
    return modelByName(context.em, name, visibleStates(context, null));
  }

  @Public()
  @Query(() => [GroupRatio], { description: 'Price ratios of all billing groups.' })
  async groupRatios(@Ctx() context: Context): Promise<GroupRatio[]> {
    return (await groupRatios(context.em)).map(ratioOf);
  }

  @Public()
  @Subscription(() => CatalogModel, {
    topics: 'catalogUpdated',
    topicId: ({ context }) => (isAdminFor(context as Context, 'ADMIN_CATALOG') ? CATALOG_ADMINS : EVERYBODY),
    description: 'Each model that was changed, or whose price was. Drafts are for administrators only.',
  })
  async catalogUpdated(@Root() event: Event, @Ctx() context: Context): Promise<CatalogModel> {
    const [model] = await modelsById(context.em, [event.id]);
    if (model && visibleStates(context, null).includes(model.state)) return model;
    // The state changed again, or the role of the viewer did.
    throw requestError('FORBIDDEN', 'This model is not available.');
  }

  @Authorized('ADMIN')
  @Mutation(() => CatalogModelPayload, { description: 'Creates a model as a draft, or changes one.' })
  adminModelUpsert(
    @Ctx() context: Context,
    @Arg('input', () => AdminModelInput, { description: 'The model.' }) input: AdminModelInput,
  ): Promise<CatalogModelPayload> {
    return outcome({ model: null }, async () => ({
      model: await upsertModel(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => CatalogModelPayload, { description: 'Publishes, deprecates or retires a model.' })
  adminModelSetState(
    @Ctx() context: Context,
    @Arg('input', () => AdminModelStateInput, { description: 'The new state.' }) input: AdminModelStateInput,
  ): Promise<CatalogModelPayload> {
    return outcome({ model: null }, async () => ({
      model: await setModelState(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => GroupRatioPayload, {
    description: 'Sets the ratio of a group. Nodes use the new prices within a second.',
  })
  adminGroupRatioSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminGroupRatioInput, { description: 'The new ratio.' }) input: AdminGroupRatioInput,
  ): Promise<GroupRatioPayload> {
    return outcome({ groupRatio: null }, async () => {
      const ratio = parseRatio(input.ratio);
      if (ratio === undefined)
        throw new UserFailure('INVALID', 'Enter a ratio with at most four fraction digits.', 'ratio');
      return {
        groupRatio: ratioOf(
          await setGroupRatio(
            context.em,
            { group: input.group, version: input.version, reason: input.reason, ratio },
            actorOf(context),
          ),
        ),
      };
    });
  }

  @FieldResolver(() => [GroupPrice], { description: 'Price of a successful request in each group.' })
  async prices(@Root() model: CatalogModel, @Ctx() context: Context): Promise<GroupPrice[]> {
    const ratios = (await context.batches.load(ratiosForAll, '')) ?? [];
    return pricesOf(model, ratios).map(({ group, ratio, price }) => ({
      group,
      ratio: formatRatio(ratio),
      pricePerRequest: price,
    }));
  }

  @FieldResolver(() => [ModelEndpoint], { description: 'Endpoints that serve the model.' })
  endpoints(@Root() model: CatalogModel): ModelEndpoint[] {
    return model.families.flatMap((family) =>
      FAMILY_PATHS[family].map(({ method, path, streaming }) => ({
        family,
        method,
        path: path.replace('{model}', model.name),
        streaming,
      })),
    );
  }

  @FieldResolver(() => ModelDeprecation, {
    nullable: true,
    description: 'Set for deprecated and retired models.',
  })
  async deprecation(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ModelDeprecation | null> {
    if (!model.deprecatedAt) return null;
    const replacement = model.replacementId
      ? await context.batches.load(modelsByIds, model.replacementId)
      : undefined;
    return {
      announcedAt: model.deprecatedAt,
      retiresAt: model.retiresAt ?? null,
      replacement: replacement ?? null,
      note: model.deprecationNote ?? null,
    };
  }
}

type State = CatalogModel['state'];

/** The requested states that the caller may see; all of these if none are requested. */
function visibleStates(context: Context, requested: State[] | null | undefined): State[] {
  const isAdmin = isAdminFor(context, 'ADMIN_CATALOG');
  const allowed: State[] = isAdmin ? ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED'] : PUBLIC_STATES;
  return requested ? allowed.filter((state) => requested.includes(state)) : allowed;
}

function ratioOf(row: GroupRatioRow): GroupRatio {
  return { ...row, group: row.name, ratio: formatRatio(row.ratio), description: row.description ?? null };
}
