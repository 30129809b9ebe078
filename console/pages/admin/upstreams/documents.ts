/** GraphQL operations of the upstream pages. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { QuirkFields } from './quirk-documents.ts';

const RouteFields = graphql(
  `
    fragment RouteFields on UpstreamRoute {
      id
      enabled
      families
      priority
      weight
      cost
      upstreamModel
      openUntil
      version
      quirks {
        ...QuirkFields
      }
      model {
        id
        name
      }
    }
  `,
  [QuirkFields],
);

const ProviderFields = graphql(
  `
    fragment ProviderFields on UpstreamProvider {
      id
      name
      baseUrl
      protocols
      enabled
      demo
      concurrencyLimit
      probeMinutes
      version
      access {
        auth
        tenantId
        clientId
        scope
        region
        service
        roleArn
        audience
        serviceAccount
        tokenUrl
        style
        pathTemplate
        headers {
          name
          value
        }
        query {
          name
          value
        }
        proxyUrl
      }
      timeouts {
        connectMs
        headersMs
        firstContentMs
        idleMs
        totalMs
      }
      credentials {
        id
        label
        suffix
        enabled
        lastUsedAt
        lastError
        lastErrorAt
        suspendedUntil
        quotaSpentUntil
      }
      health {
        status
        circuit
        requests5m
        errorRate5m
        p95LatencyMs
        inputTokens5m
        cachedTokens5m
        needsCredential
        asOf
        lastProbeAt
        lastProbeStatus
        lastProbeLatencyMs
        lastProbeError
        nodes {
          nodeName
          circuit
          requests
          busy
          timeouts
          refused
          failed
          clockAheadMs
        }
      }
      quirks {
        ...QuirkFields
      }
      routes {
        ...RouteFields
      }
    }
  `,
  [RouteFields, QuirkFields],
);

export const ProvidersQuery = graphql(
  `
    query Providers {
      admin {
        providers {
          ...ProviderFields
        }
      }
      catalog(first: 100) {
        nodes {
          id
          name
        }
      }
    }
  `,
  [ProviderFields],
);

export const UpsertProvider = graphql(
  `
    mutation UpsertProvider($input: AdminProviderInput!) {
      adminProviderUpsert(input: $input) {
        provider {
          id
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const AddCredential = graphql(
  `
    mutation AddCredential($input: AdminCredentialInput!) {
      adminCredentialAdd(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const RemoveCredential = graphql(
  `
    mutation RemoveCredential($input: AdminReasonInput!) {
      adminCredentialRemove(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const UpsertRoute = graphql(
  `
    mutation UpsertRoute($input: AdminRouteInput!) {
      adminRouteUpsert(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const DeleteRoute = graphql(
  `
    mutation DeleteRoute($input: AdminReasonInput!) {
      adminRouteDelete(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export const ProbeProvider = graphql(
  `
    mutation ProbeProvider($input: AdminProbeInput!) {
      adminProviderProbe(input: $input) {
        result {
          ok
          status
          latencyMs
          sample
          error
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Provider = ResultOf<typeof ProviderFields>;
export type Route = ResultOf<typeof RouteFields>;
export interface ModelName {
  id: string;
  name: string;
}

/** The open dialog, and its subject. */
export type UpstreamTask =
  | { kind: 'edit'; provider?: Provider }
  | { kind: 'credential' | 'probe' | 'quirks' | 'models' | 'probing'; provider: Provider }
  | { kind: 'removeCredential'; credential: Provider['credentials'][number] }
  | { kind: 'route'; provider: Provider; route?: Route }
  | { kind: 'removeRoute'; route: Route };
