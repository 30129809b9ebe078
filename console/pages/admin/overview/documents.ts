/** The GraphQL query of the administrators' overview. */
import { graphql, type ResultOf } from '../../../graphql.ts';
import { TimingFields } from '../../usage/times-documents.ts';
import { OVERVIEW_QUERY_TEXT, OVERVIEW_SUMS_TEXT } from './first.ts';

const OverviewSums = graphql(OVERVIEW_SUMS_TEXT);

export const OverviewQuery = graphql(OVERVIEW_QUERY_TEXT, [OverviewSums, TimingFields]);

export type Overview = NonNullable<ResultOf<typeof OverviewQuery>['admin']>;
