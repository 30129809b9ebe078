/** GraphQL operations of the privacy policy. */
import { graphql, type ResultOf } from '../../graphql.ts';

export const PolicyQuery = graphql(`
  query PrivacyPolicy($version: String) {
    privacyPolicy(version: $version) {
      id
      version
      effectiveAt
      markdown
      sha256
      changeSummary
    }
  }
`);

export const PolicyHistoryQuery = graphql(`
  query PolicyHistory {
    privacyPolicyVersions {
      id
      version
      effectiveAt
      markdown
      sha256
      changeSummary
    }
  }
`);

export const RetentionQuery = graphql(`
  query Retention {
    usageRetentionDays
  }
`);

export type Policy = ResultOf<typeof PolicyHistoryQuery>['privacyPolicyVersions'][number];

const TITLE_LINE = /^\s*# .*\n/;

/** The text without its first heading, because pages and dialogs have their own. */
export function withoutTitle(markdown: string): string {
  return markdown.replace(TITLE_LINE, '');
}
