/** GraphQL operations of the usage page. */
import { graphql, type ResultOf } from '../../graphql.ts';
import { PageFields } from '../answer-fields.ts';
import { ENTRY_FIELDS_TEXT, SUM_FIELDS_TEXT, SUMMARY_QUERY_TEXT, USAGE_QUERY_TEXT } from './first.ts';

export const EntryFields = graphql(ENTRY_FIELDS_TEXT);

export const UsageQuery = graphql(USAGE_QUERY_TEXT, [EntryFields, PageFields]);

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

const SumFields = graphql(SUM_FIELDS_TEXT);

export const SummaryQuery = graphql(SUMMARY_QUERY_TEXT, [SumFields]);

export type UsageSums = ResultOf<typeof SumFields>;
export type Summary = NonNullable<ResultOf<typeof SummaryQuery>['viewer']>['now'];
export type SummaryPoint = Summary['series'][number];
