/** The node's client of the control plane: mutations over HTTP, the config subscription over a WebSocket. */
import { CombinedError, Client, fetchExchange, subscriptionExchange } from '@urql/core';
import type { Client as SocketClient } from 'graphql-ws';
import { NODE_LEASE_CLOSE, NODE_LEASE_REQUEST } from '@gateway/shared/lease-api';
import type { NodeLeaseAnswer, NodeLeaseCloseInput, NodeLeaseRequestInput } from '@gateway/shared/lease-api';
import {
  CONFIG_SUBSCRIPTION,
  NODE_CONFIG_ACK,
  NODE_HEARTBEAT,
  NODE_REGISTER,
  NODE_REQUEST_CLAIM,
  NODE_REQUEST_RELEASE,
} from '@gateway/shared/node-api';
import type {
  ConfigEvent,
  NodeConfigAckInput,
  NodeHeartbeatInput,
  NodeRegisterInput,
  NodeRequestClaimAnswer,
  NodeRequestClaimInput,
  NodeRequestReleaseInput,
} from '@gateway/shared/node-api';
import { NODE_PERMIT_PROMISE, NODE_PERMIT_REQUEST } from '@gateway/shared/permit-api';
import type {
  NodePermitAnswer,
  NodePermitPromiseAnswer,
  NodePermitPromiseInput,
  NodePermitRequestInput,
} from '@gateway/shared/permit-api';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import { ControlAddresses } from './addresses.ts';
import { ControlError, refusalError } from './error.ts';
import { createControlSocket } from './socket.ts';
import { sendReport } from './report-usage.ts';
import type { ReportTarget } from './report-usage.ts';

/** Time until a mutation counts as unanswered, in ms. */
const MUTATION_TIMEOUT_MS = 5_000;
/** Mutations for which a client request waits; they time out earlier. */
const CLIENT_WAITS: ReadonlySet<string> = new Set([
  'nodeLeaseRequest',
  'nodeRequestClaim',
  'nodeRequestRelease',
  'nodePermitRequest',
  'nodePermitPromise',
]);
const CLIENT_WAITS_TIMEOUT_MS = 2_000;

interface ControlOptions {
  /** Addresses of control plane instances on one database, without a path. */
  urls: readonly [string, ...string[]];
  /** The node's token (`gnt_…`). */
  token: string;
}

/** Callbacks of the configuration subscription. No event follows `onEnd`; the caller subscribes again. */
interface ConfigSink {
  onEvent(event: ConfigEvent): void;
  /** `code` is the GraphQL error code, such as REVISION_GAP, if the control plane sent one. */
  onEnd(reason: { code: string | undefined; message: string }): void;
}

/** Answer to a mutation that returns no data. */
interface ControlAnswer {
  ok: boolean;
  userErrors: { code: string; message: string }[];
}

/**
 * Calls to the control plane. A call rejects with ControlError if no valid answer arrives in time. No call is
 * retried.
 */
export interface Control {
  /** Registers this process. Returns the node that the token belongs to. */
  register(input: NodeRegisterInput): Promise<{ id: string; name: string }>;
  acknowledge(input: NodeConfigAckInput): Promise<ControlAnswer>;
  requestLease(input: NodeLeaseRequestInput): Promise<NodeLeaseAnswer>;
  closeLease(input: NodeLeaseCloseInput): Promise<ControlAnswer>;
  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer>;
  /** Sends a heartbeat. `draining`: whether an administrator wants the node to end. */
  heartbeat(input: NodeHeartbeatInput): Promise<{ draining: boolean }>;
  reserveIdempotencyKey(input: NodeRequestClaimInput): Promise<NodeRequestClaimAnswer>;
  releaseIdempotencyKey(input: NodeRequestReleaseInput): Promise<ControlAnswer>;
  /** Also rejects if the control plane refuses the request with a user error. */
  requestPermits(input: NodePermitRequestInput): Promise<NodePermitAnswer>;
  /** Also rejects if the control plane refuses the promise with a user error. */
  promisePermits(
    input: NodePermitPromiseInput,
  ): Promise<{ clock: string; accepted: boolean; hasRoom: boolean }>;
  /** Subscribes to changes after a revision, or to a snapshot without one. Returns a function that stops. */
  follow(from: { nodeId: string; fromRevision?: number }, sink: ConfigSink): () => void;
  /** Closes the socket. Never rejects. */
  stop(): Promise<void>;
}

/** Creates a client. It sends nothing before the first call, so the control plane may be away. */
export function connectControl(options: ControlOptions): Control {
  const [first, ...others] = options.urls;
  const addresses = new ControlAddresses([graphqlAt(first), ...others.map(graphqlAt)]);
  const socket = createControlSocket(addresses, options.token);
  const client = new Client({
    url: addresses.current,
    preferGetMethod: false,
    requestPolicy: 'network-only',
    fetchOptions: { headers: { authorization: `Bearer ${options.token}` } },
    exchanges: [
      subscriptionExchange({
        forwardSubscription: (request, operation) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe(
              { query: request.query ?? '', variables: request.variables },
              {
                next: ({ data, errors }) => sink.next({ data, errors }),
                error: (error) => {
                  operation.context['onEnd']?.(error);
                },
                complete: () => {
                  operation.context['onEnd']?.(undefined);
                },
              },
            ),
          }),
        }),
      }),
      fetchExchange,
    ],
  });
  const reports = { addresses, token: options.token, timeoutMs: MUTATION_TIMEOUT_MS };
  return controlWith(client, socket, reports);
}

function graphqlAt(url: string): string {
  return new URL('/graphql', url).href;
}

function controlWith(client: Client, socket: SocketClient, reports: ReportTarget): Control {
  const call = createCall(client, reports.addresses);
  return {
    async register(input) {
      const answer = await call<{ node: { id: string; name: string } | null }>(
        'nodeRegister',
        NODE_REGISTER,
        input,
      );
      if (!answer.node) throw refusalError('nodeRegister', answer.userErrors);
      return answer.node;
    },
    acknowledge: (input) => call<ControlAnswer>('nodeConfigAck', NODE_CONFIG_ACK, input),
    requestLease: (input) => call<NodeLeaseAnswer>('nodeLeaseRequest', NODE_LEASE_REQUEST, input),
    closeLease: (input) => call<ControlAnswer>('nodeLeaseClose', NODE_LEASE_CLOSE, input),
    reportUsage: (report) => sendReport(reports, report),
    async heartbeat(input) {
      const answer = await call<NodeHeartbeatAnswer>('nodeHeartbeat', NODE_HEARTBEAT, input);
      if (!answer.node) throw refusalError('nodeHeartbeat', answer.userErrors);
      return { draining: answer.node.state === 'DRAINING' };
    },
    reserveIdempotencyKey: (input) =>
      call<NodeRequestClaimAnswer>('nodeRequestClaim', NODE_REQUEST_CLAIM, input),
    releaseIdempotencyKey: (input) => call<ControlAnswer>('nodeRequestRelease', NODE_REQUEST_RELEASE, input),
    follow: (from, sink) => follow(client, from, sink),
    async requestPermits(input) {
      const answer = await call<NodePermitAnswer>('nodePermitRequest', NODE_PERMIT_REQUEST, input);
      if (answer.userErrors.length > 0) throw refusalError('nodePermitRequest', answer.userErrors);
      return answer;
    },
    async promisePermits(input) {
      const answer = await call<NodePermitPromiseAnswer>('nodePermitPromise', NODE_PERMIT_PROMISE, input);
      const { clock, accepted, hasRoom, userErrors } = answer;
      if (clock === null) throw refusalError('nodePermitPromise', userErrors);
      return { clock, accepted, hasRoom };
    },
    // graphql-ws rejects with {code: 1000} if it is disposed of while it connects.
    stop: async () => {
      await Promise.resolve(socket.dispose()).catch(() => undefined);
    },
  };
}

interface NodeHeartbeatAnswer {
  node: { state: string } | null;
}
type WithUserErrors = { userErrors: { code: string; message: string }[] };
type Call = <Answer>(field: string, document: string, input: object) => Promise<Answer & WithUserErrors>;

function createCall(client: Client, addresses: ControlAddresses): Call {
  return async <Answer>(field: string, document: string, input: object) => {
    const limit = CLIENT_WAITS.has(field) ? CLIENT_WAITS_TIMEOUT_MS : MUTATION_TIMEOUT_MS;
    const timeout = AbortSignal.timeout(limit);
    const address = addresses.current;
    const result = await client
      .mutation<Record<string, Answer & WithUserErrors>>(
        document,
        { input },
        {
          // urql supports one address and no time limit, so its fetch is replaced.
          fetch: (_target, init) => fetch(address, { ...init, signal: timeout }),
        },
      )
      .toPromise();
    if (result.error?.networkError) addresses.failOver(address);
    const answer = result.data?.[field];
    if (!answer || result.error) {
      throw new ControlError(
        `${field} got no answer: ${describe(result.error)}`,
        codeOf(result.error),
        result.error,
      );
    }
    return answer;
  };
}

function follow(
  client: Client,
  from: { nodeId: string; fromRevision?: number },
  sink: ConfigSink,
): () => void {
  let open = true;
  const end = (error: unknown) => {
    if (!open) return;
    open = false;
    subscription.unsubscribe();
    sink.onEnd({ code: codeOf(error), message: error ? describe(error) : 'the stream was completed' });
  };
  const subscription = client
    .subscription<{ dataPlaneConfig: ConfigEvent }>(CONFIG_SUBSCRIPTION, { ...from }, { onEnd: end })
    .subscribe((result) => {
      if (!open) return;
      if (result.error) end(result.error);
      else if (result.data?.dataPlaneConfig) sink.onEvent(result.data.dataPlaneConfig);
    });
  return () => {
    open = false;
    subscription.unsubscribe();
  };
}

function codeOf(error: unknown): string | undefined {
  const errors = error instanceof CombinedError ? error.graphQLErrors : Array.isArray(error) ? error : [];
  for (const each of errors) {
    const code = (each as { extensions?: { code?: unknown } }).extensions?.code;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (Array.isArray(error)) return error.map((each) => describe(each)).join('; ');
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  // graphql-ws rejects with the close event of the socket, whose fields are getters.
  if (typeof error === 'object' && error !== null && 'code' in error)
    return `the socket closed with ${String(error.code)}`;
  return 'the connection failed';
}
