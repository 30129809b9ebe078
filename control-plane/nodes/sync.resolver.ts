/**
 * Operations that nodes call: registration, acknowledgements, heartbeats, leases and the configuration
 * stream.
 */
import 'reflect-metadata';
import { Arg, Args, Ctx, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { actorOf, Authorized, nodeOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import { AckPayload } from '../graphql/inputs.ts';
import { recordOldSecretUses } from '../keys/key.usage.ts';
import { announceSettings } from '../settings-record.ts';
import { inTransaction } from '../database/sql.ts';
import { closeLease } from '../wallet/lease.end.ts';
import { LEASE_OFFLINE_MS } from '../wallet/lease.rules.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { recordHealthReports } from '../upstreams/health.service.ts';
import { heartbeat, touchJournal } from './contact.service.ts';
import { NodeLeaseCloseInput, NodeLeasePayload, NodeLeaseRequestInput } from './lease.types.ts';
import { workerById } from './node.service.ts';
import { NodePayload } from './node.types.ts';

import { registerNode } from './registration.service.ts';
import {
  ConfigEventUnion,
  ConfigStreamArguments,
  NodeConfigAckInput,
  NodeHeartbeatInput,
  NodeRegisterInput,
} from './sync.types.ts';

/** Operations of nodes. A node may act only for itself, identified by its token. */
@Resolver()
export class SyncResolver {
  @Authorized('NODE')
  @Mutation(() => NodePayload, {
    description:
      'Registers a starting process as the node. Must succeed before any other operation of the node.',
  })
  nodeRegister(
    @Ctx() context: Context,
    @Arg('input', () => NodeRegisterInput, { description: 'The node.' }) input: NodeRegisterInput,
  ): Promise<NodePayload> {
    const { id } = nodeOf(context);
    return outcome({ node: null }, async () => {
      await inTransaction(context.em, async (em) => {
        const { start, instanceId } = input;
        // Nodes of earlier releases send neither.
        const process = start && instanceId ? { start, instanceId } : undefined;
        const maxConfigAgeMs = input.maxConfigAgeSeconds ? input.maxConfigAgeSeconds * 1000 : undefined;
        const serves = input.serves ?? undefined;
        const rest = { region: input.region ?? null, process, maxConfigAgeMs, serves };
        await registerNode(em, id, { ...input, ...rest });
        await announceSettings(em, context.settings);
      });
      return { node: await workerById(context.em, id) };
    });
  }

  @Authorized('NODE')
  @Mutation(() => AckPayload, {
    description: 'Acknowledges a revision as applied, or refuses it with an error.',
  })
  nodeConfigAck(
    @Ctx() context: Context,
    @Arg('input', () => NodeConfigAckInput, { description: 'The revision.' }) input: NodeConfigAckInput,
  ): Promise<AckPayload> {
    const id = ownId(context, input.nodeId);
    return outcome({ ok: false }, async () => {
      await context.nodeFeed.acknowledge(id, { ...input, error: input.error ?? null });
      return { ok: true };
    });
  }

  @Authorized('NODE')
  @Mutation(() => NodePayload, {
    description: 'Reports that the node is alive, with its measurements; confirms its leases.',
  })
  nodeHeartbeat(
    @Ctx() context: Context,
    @Arg('input', () => NodeHeartbeatInput, { description: 'Measurements.' }) input: NodeHeartbeatInput,
  ): Promise<NodePayload> {
    const id = ownId(context, input.nodeId);
    return outcome({ node: null }, async () => {
      await heartbeat(context.em, id, input);
      await recordHealthReports(context.em, id, input);
      await recordOldSecretUses(context.em, input.oldSecrets ?? []);
      return { node: await workerById(context.em, id) };
    });
  }

  @Authorized('NODE')
  @Mutation(() => NodeLeasePayload, {
    description: 'Requests credit of one wallet. The same requestNo of a journal returns the same lease.',
  })
  nodeLeaseRequest(
    @Ctx() context: Context,
    @Arg('input', () => NodeLeaseRequestInput, { description: 'The request.' }) input: NodeLeaseRequestInput,
  ): Promise<NodeLeasePayload> {
    const nodeId = ownId(context, input.nodeId);
    const none = { leaseId: null, granted: 0n, cash: 0n, gift: 0n, deadlineMs: LEASE_OFFLINE_MS };
    return outcome(none, async () => {
      await touchJournal(context.em, nodeId, { journalId: input.journalId });
      const { id, cash, gift } = await requestLease(context.em, {
        ...input,
        nodeId,
        requestNo: Number(input.requestNumber ?? input.requestNo),
        keyId: input.keyId ?? null,
        waiting: input.waiting ?? 0n,
      });
      return { leaseId: id, granted: cash + gift, cash, gift, deadlineMs: LEASE_OFFLINE_MS };
    });
  }

  @Authorized('NODE')
  @Mutation(() => AckPayload, {
    description: 'Closes a lease. Accepted only if count and sum equal the charges settled in it.',
  })
  nodeLeaseClose(
    @Ctx() context: Context,
    @Arg('input', () => NodeLeaseCloseInput, { description: 'The lease.' }) input: NodeLeaseCloseInput,
  ): Promise<AckPayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ ok: false }, async () => {
      await closeLease(context.em, { ...input, nodeId, actor: actorOf(context) });
      return { ok: true };
    });
  }

  @Authorized('NODE')
  @Subscription(() => ConfigEventUnion, {
    description:
      'A snapshot or the changes since fromRevision, then every further change. Ends with ' +
      'extensions.code=REVISION_GAP if changes since fromRevision are no longer kept.',
    subscribe: ({ args, context }: { args: ConfigStreamArguments; context: Context }) =>
      context.nodeFeed.follow(ownId(context, args.nodeId), args.fromRevision ?? null, args.packed === true),
  })
  dataPlaneConfig(
    @Root() event: ConfigEvent,
    @Args(() => ConfigStreamArguments) _args: ConfigStreamArguments,
  ): ConfigEvent {
    return event;
  }
}

/** The id of the calling node. Throws FORBIDDEN if `nodeId` is another node. */
export function ownId(context: Context, nodeId: string): string {
  const { id } = nodeOf(context);
  if (nodeId !== id)
    throw requestError('FORBIDDEN', 'This token belongs to another node. Send the id of its own node.');
  return id;
}
