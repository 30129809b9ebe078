/** GraphQL operations of the usage page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields } from '../answer-fields.ts';

export const EntryFields = graphql(`
  fragment EntryFields on UsageEntry {
    id
    requestId
    modelName
    keyId
    key {
      id
      name
    }
    poolId
    source
    inputTokens
    cachedTokens
    outputTokens
    cost
    status
    httpStatus
    latencyMs
    ttftMs
    ip
    createdAt
  }
`);

export const UsageQuery = graphql(
  `
    query Usage(
      $first: Int!
      $after: String
      $before: String
      $filter: UsageFilter
      $orderBy: UsageOrderInput
    ) {
      viewer {
        id
        usage(first: $first, after: $after, before: $before, filter: $filter, orderBy: $orderBy) {
          nodes {
            ...EntryFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [EntryFields, PageFields],
);

/** The options of the filters. Loaded once, not with every page of the log. */
export const UsageNamesQuery = graphql(`
  query UsageNames {
    viewer {
      id
      apiKeys(first: 100) {
        nodes {
          id
          name
        }
      }
      pools(first: 100) {
        nodes {
          id
          name
        }
      }
    }
    catalog(first: 100) {
      nodes {
        id
        name
      }
    }
  }
`);

export const NewUsage = graphql(
  `
    subscription NewUsage {
      usageAdded {
        ...EntryFields
      }
    }
  `,
  [EntryFields],
);

export const UsageExport = graphql(`
  query UsageExport($filter: UsageFilter, $format: ExportFormat!) {
    usageExport(filter: $filter, format: $format) {
      downloadUrl
    }
  }
`);

export type UsageRow = ResultOf<typeof EntryFields>;

const SumFields = graphql(`
  fragment SumFields on UsageTotals {
    cost
    requests
    failed
    inputTokens
    outputTokens
    cachedTokens
  }
`);

export const SummaryQuery = graphql(
  `
    query UsageSums(
      $range: DateRange!
      $before: DateRange!
      $filter: UsageFilter
      $groupBy: [UsageDimension!]!
      $bucket: UsageBucket!
    ) {
      viewer {
        id
        now: usageSummary(range: $range, filter: $filter, groupBy: $groupBy, bucket: $bucket) {
          asOf
          totals {
            ...SumFields
          }
          previousTotals {
            ...SumFields
          }
          groups {
            key
            label
            totals {
              ...SumFields
            }
          }
          series {
            at
            key
            totals {
              ...SumFields
            }
          }
        }
        before: usageSummary(range: $before, filter: $filter, bucket: $bucket) {
          series {
            at
            key
            totals {
              ...SumFields
            }
          }
        }
      }
    }
  `,
  [SumFields],
);

export type UsageSums = ResultOf<typeof SumFields>;
export type Summary = NonNullable<ResultOf<typeof SummaryQuery>['viewer']>['now'];
export type SummaryPoint = Summary['series'][number];
