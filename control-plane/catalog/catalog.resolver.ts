/** The catalog on the API: public reading, and changes by administrators. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { FAMILY_PATHS } from '@gateway/shared/catalog';
import { formatRatio, parseRatio } from '@gateway/shared/money';
import { connectionFrom, decodeCursor, encodeCursor, LongPageArguments, pageSize } from '../connections.ts';
import type { Connection } from '../connections.ts';
import { actorOf, Authorized, isAdminFor, Public } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, requestError, UserFailure } from '../errors.ts';
import { EVERYBODY } from '../events.ts';
import type { Event } from '../events.ts';
import { modelsByIds, ratiosForAll } from '../lookups.ts';
import {
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
import {
  AdminModelInput,
  AdminModelStateInput,
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

/** Models, prices and ratios. */
@Resolver(() => CatalogModel)
export class CatalogResolver {
  @Public()
  @Query(() => CatalogModelConnection, { description: "Models on offer, in the catalog's order." })
  async catalog(
    @Ctx() context: Context,
    @Args(() => LongPageArguments) page: LongPageArguments,
    @Arg('filter', () => CatalogFilter, { nullable: true, description: 'Which ones.' })
    filter: CatalogFilter | null,
  ): Promise<Connection<CatalogModel>> {
    const first = pageSize(page.first);
    const states = visibleStates(context, filter?.states);
    const wanted: CatalogQuery = Object.assign({}, filter, { states });
    const rows = await findModels(context.em, wanted, {
      after: decodeCursor(page.after, 2),
      limit: first + 1,
    });
    return connectionFrom(rows, {
      first,
      after: page.after,
      totalCount: () => countModels(context.em, wanted),
      cursor: (row) => encodeCursor([row.position, row.id]),
      node: (row) => row,
    });
  }

  @Public()
  @Query(() => CatalogModel, { nullable: true, description: 'One model by its exact name.' })
  catalogModel(
    @Ctx() context: Context,
    @Arg('name', () => String, { description: 'Exact name.' }) name: string,
  ): Promise<CatalogModel | null> {
    return modelByName(context.em, name, visibleStates(context, null));
  }

  @Public()
  @Query(() => [GroupRatio], { description: 'The ratio of every billing group.' })
  async groupRatios(@Ctx() context: Context): Promise<GroupRatio[]> {
    return (await groupRatios(context.em)).map(ratioOf);
  }

  @Public()
  @Subscription(() => CatalogModel, {
    topics: 'catalogUpdated',
    topicId: () => EVERYBODY,
    description: 'Each model whose entry or price changed.',
  })
  async catalogUpdated(@Root() event: Event, @Ctx() context: Context): Promise<CatalogModel> {
    const [model] = await modelsById(context.em, [event.id]);
    if (
      model &&
      visibleStates(context, ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED']).includes(model.state)
    )
      return model;
    throw requestError('FORBIDDEN', 'This model is not on offer.');
  }

  @Authorized('ADMIN')
  @Mutation(() => CatalogModelPayload, { description: 'Makes a model (as a draft) or changes one.' })
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
    description: 'Sets the ratio of a group; nodes charge by it within a second.',
  })
  adminGroupRatioSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminGroupRatioInput, { description: 'The new ratio.' }) input: AdminGroupRatioInput,
  ): Promise<GroupRatioPayload> {
    return outcome({ groupRatio: null }, async () => {
      const ratio = parseRatio(input.ratio);
      if (ratio === undefined)
        throw new UserFailure('INVALID', 'A ratio has at most four fraction digits.', 'ratio');
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

  @FieldResolver(() => [GroupPrice], { description: 'What a success costs in each group.' })
  async prices(@Root() model: CatalogModel, @Ctx() context: Context): Promise<GroupPrice[]> {
    const ratios = (await context.batches.load(ratiosForAll, '')) ?? [];
    return pricesOf(model, ratios).map(({ group, ratio, price }) => ({
      group,
      ratio: formatRatio(ratio),
      pricePerRequest: price,
    }));
  }

  @FieldResolver(() => [ModelEndpoint], { description: 'Endpoints that serve it.' })
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
    description: 'Set when the model is going to be retired.',
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

function visibleStates(context: Context, asked: State[] | null | undefined): State[] {
  const isAdmin = isAdminFor(context, 'ADMIN_CATALOG');
  const allowed: State[] = isAdmin ? ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED'] : PUBLIC_STATES;
  return asked ? allowed.filter((state) => asked.includes(state)) : allowed;
}

function ratioOf(row: GroupRatioRow): GroupRatio {
  return { ...row, group: row.name, ratio: formatRatio(row.ratio), description: row.description ?? null };
}
