/**
 * The node's line to the control plane: mutations over HTTP, the config subscription over a watched
 * WebSocket.
 */
import { CombinedError, Client, fetchExchange, subscriptionExchange } from '@urql/core';
import type { Client as SocketClient } from 'graphql-ws';
import {
  CONFIG_SUBSCRIPTION,
  NODE_CONFIG_ACK,
  NODE_HEARTBEAT,
  NODE_LEASE_CLOSE,
  NODE_LEASE_REQUEST,
  NODE_REGISTER,
  NODE_REQUEST_CLAIM,
  NODE_REQUEST_RELEASE,
} from '@gateway/shared/node-api';
import type {
  ConfigEvent,
  NodeConfigAckInput,
  NodeHeartbeatInput,
  NodeLeaseAnswer,
  NodeLeaseCloseInput,
  NodeLeaseRequestInput,
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
import { Addresses } from './addresses.ts';
import { ControlError, refusal } from './control-error.ts';
import { watchedSocket } from './control-socket.ts';
import { sendReport } from './report-usage.ts';
import type { ReportTarget } from './report-usage.ts';

/** How long one mutation may take before it counts as unanswered, in ms. */
const MUTATION_TIMEOUT_MS = 5_000;
/** Shorter where somebody's request waits; a late answer is fetched again under the same number. */
const WAITED_FOR: ReadonlySet<string> = new Set([
  'nodeLeaseRequest',
  'nodeRequestClaim',
  'nodeRequestRelease',
  'nodePermitRequest',
  'nodePermitPromise',
]);
const WAITED_FOR_TIMEOUT_MS = 2_000;

export interface ControlOptions {
  /** Addresses of control planes over one database, without a path: the first that answers is used. */
  urls: readonly [string, ...string[]];
  /** The node's token (`gnt_…`). */
  token: string;
}

/** What the config subscription calls back. After `ended` nothing more comes; the caller follows again. */
export interface ConfigSink {
  event(event: ConfigEvent): void;
  /** `code` is the GraphQL error code where the control plane ended it with one, e.g. REVISION_GAP. */
  ended(reason: { code: string | undefined; message: string }): void;
}

/** What the control plane says to an acknowledgement-like mutation. */
export interface ControlAnswer {
  ok: boolean;
  userErrors: { code: string; message: string }[];
}

/** Every method rejects with ControlError when no valid answer came in time; nothing is retried here. */
export interface Control {
  /** Announces this process and returns the node that the token stands for. */
  register(input: NodeRegisterInput): Promise<{ id: string; name: string }>;
  acknowledge(input: NodeConfigAckInput): Promise<ControlAnswer>;
  requestLease(input: NodeLeaseRequestInput): Promise<NodeLeaseAnswer>;
  closeLease(input: NodeLeaseCloseInput): Promise<ControlAnswer>;
  reportUsage(report: UsageReport): Promise<NodeUsageReportAnswer>;
  /** Says whether an administrator wants the node to end. */
  heartbeat(input: NodeHeartbeatInput): Promise<{ draining: boolean }>;
  claimRequest(input: NodeRequestClaimInput): Promise<NodeRequestClaimAnswer>;
  releaseRequest(input: NodeRequestReleaseInput): Promise<ControlAnswer>;
  /** Rejects also where the request was not judged. */
  requestPermits(input: NodePermitRequestInput): Promise<NodePermitAnswer>;
  /** Rejects also where the promise was not judged. */
  promisePermits(
    input: NodePermitPromiseInput,
  ): Promise<{ clock: string; accepted: boolean; hasRoom: boolean }>;
  /** Follows the configuration from a revision, or from a snapshot without one. Returns how to stop. */
  follow(from: { nodeId: string; fromRevision?: number }, sink: ConfigSink): () => void;
  /** Closes the socket. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Opens the line. Nothing is sent before the first call, so that this works while the control plane is away.
 */
export function connectControl(options: ControlOptions): Control {
  const [first, ...others] = options.urls;
  const addresses = new Addresses([graphqlAt(first), ...others.map(graphqlAt)]);
  const socket = watchedSocket(addresses, options.token);
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
                  operation.context['ended']?.(error);
                },
                complete: () => {
                  operation.context['ended']?.(undefined);
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
  return controlOver(client, socket, reports);
}

function graphqlAt(url: string): string {
  return new URL('/graphql', url).href;
}

function controlOver(client: Client, socket: SocketClient, reports: ReportTarget): Control {
  const call = caller(client, reports.addresses);
  return {
    async register(input) {
      const answer = await call<{ node: { id: string; name: string } | null }>(
        'nodeRegister',
        NODE_REGISTER,
        input,
      );
      if (!answer.node) throw refusal('nodeRegister', answer.userErrors);
      return answer.node;
    },
    acknowledge: (input) => call<ControlAnswer>('nodeConfigAck', NODE_CONFIG_ACK, input),
    requestLease: (input) => call<NodeLeaseAnswer>('nodeLeaseRequest', NODE_LEASE_REQUEST, input),
    closeLease: (input) => call<ControlAnswer>('nodeLeaseClose', NODE_LEASE_CLOSE, input),
    reportUsage: (report) => sendReport(reports, report),
    async heartbeat(input) {
      const answer = await call<NodeHeartbeatAnswer>('nodeHeartbeat', NODE_HEARTBEAT, input);
      if (!answer.node) throw refusal('nodeHeartbeat', answer.userErrors);
      return { draining: answer.node.state === 'DRAINING' };
    },
    claimRequest: (input) => call<NodeRequestClaimAnswer>('nodeRequestClaim', NODE_REQUEST_CLAIM, input),
    releaseRequest: (input) => call<ControlAnswer>('nodeRequestRelease', NODE_REQUEST_RELEASE, input),
    follow: (from, sink) => follow(client, from, sink),
    async requestPermits(input) {
      const answer = await call<NodePermitAnswer>('nodePermitRequest', NODE_PERMIT_REQUEST, input);
      if (answer.userErrors.length > 0) throw refusal('nodePermitRequest', answer.userErrors);
      return answer;
    },
    async promisePermits(input) {
      const answer = await call<NodePermitPromiseAnswer>('nodePermitPromise', NODE_PERMIT_PROMISE, input);
      const { clock, accepted, hasRoom, userErrors } = answer;
      if (clock === null) throw refusal('nodePermitPromise', userErrors);
      return { clock, accepted, hasRoom };
    },
    // graphql-ws rejects with {code: 1000} when it is disposed of while it connects.
    stop: async () => {
      await Promise.resolve(socket.dispose()).catch(() => undefined);
    },
  };
}

interface NodeHeartbeatAnswer {
  node: { state: string } | null;
}
type Refusable = { userErrors: { code: string; message: string }[] };
type Call = <Answer>(field: string, document: string, input: object) => Promise<Answer & Refusable>;

function caller(client: Client, addresses: Addresses): Call {
  return async <Answer>(field: string, document: string, input: object) => {
    const limit = WAITED_FOR.has(field) ? WAITED_FOR_TIMEOUT_MS : MUTATION_TIMEOUT_MS;
    const timeout = AbortSignal.timeout(limit);
    const address = addresses.current;
    const result = await client
      .mutation<Record<string, Answer & Refusable>>(
        document,
        { input },
        {
          // urql has one address and no time limit: its fetch is given ours.
          fetch: (_target, init) => fetch(address, { ...init, signal: timeout }),
        },
      )
      .toPromise();
    if (result.error?.networkError) addresses.leave(address);
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
    sink.ended({ code: codeOf(error), message: error ? describe(error) : 'the stream was completed' });
  };
  const subscription = client
    .subscription<{ dataPlaneConfig: ConfigEvent }>(CONFIG_SUBSCRIPTION, { ...from }, { ended: end })
    .subscribe((result) => {
      if (!open) return;
      if (result.error) end(result.error);
      else if (result.data?.dataPlaneConfig) sink.event(result.data.dataPlaneConfig);
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
  // graphql-ws rejects with the socket's close event, whose fields are getters.
  if (typeof error === 'object' && error !== null && 'code' in error)
    return `the socket closed with ${String(error.code)}`;
  return 'the connection failed';
}
