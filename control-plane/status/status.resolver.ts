/** GraphQL fields of the status page, and the operations with which administrators write incidents. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { actorOf, Authorized, Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AckPayload, AdminReasonInput } from '../graphql/inputs.ts';
import { allIncidents, createIncident, deleteIncident, updateIncident } from './incident.service.ts';
import { forgetStatus, statusOf } from './status.service.ts';
import {
  AdminIncidentInput,
  AdminIncidentUpdateInput,
  Incident,
  IncidentPayload,
  ServiceStatus,
} from './status.type.ts';

/** The public status, and incidents. */
@Resolver()
export class StatusResolver {
  @Public()
  @Query(() => ServiceStatus, {
    description: 'Uptime of models and families in the last 90 days, and incidents; up to 30 seconds old.',
  })
  serviceStatus(@Ctx() context: Context): Promise<ServiceStatus> {
    return statusOf(context.em);
  }

  @Authorized('ADMIN')
  @Mutation(() => IncidentPayload, {
    description: 'Publishes an incident or a maintenance on the status page.',
  })
  adminIncidentCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminIncidentInput, { description: 'The incident.' }) input: AdminIncidentInput,
  ): Promise<IncidentPayload> {
    return outcome({ incident: null }, async () => {
      const incident = await createIncident(context.em, input, actorOf(context));
      forgetStatus(context.em);
      return { incident };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => IncidentPayload, {
    description: 'Publishes a message about an incident, and sets its state.',
  })
  adminIncidentUpdate(
    @Ctx() context: Context,
    @Arg('input', () => AdminIncidentUpdateInput, { description: 'The message.' })
    input: AdminIncidentUpdateInput,
  ): Promise<IncidentPayload> {
    return outcome({ incident: null }, async () => {
      const incident = await updateIncident(context.em, input, actorOf(context));
      forgetStatus(context.em);
      return { incident };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => AckPayload, {
    description: 'Deletes an incident that was published by mistake. The audit log keeps its text.',
  })
  adminIncidentDelete(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The incident.' }) input: AdminReasonInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await deleteIncident(context.em, input, actorOf(context));
      forgetStatus(context.em);
      return { ok: true };
    });
  }
}

/** All incidents, for administrators. */
@Resolver(() => AdminQuery)
export class AdminIncidentsResolver {
  @FieldResolver(() => [Incident], { description: 'The latest 100 incidents, open ones first.' })
  incidents(@Ctx() context: Context): Promise<Incident[]> {
    return allIncidents(context.em);
  }
}
