/** Texts of the fragments that read times of requests, for the early data script. */

export const PERCENTILE_FIELDS_TEXT = `
  fragment PercentileFields on TimePercentiles {
    requests
    p50Ms
    p95Ms
    p99Ms
    __typename
  }
`;

export const TIMING_FIELDS_TEXT = `
  fragment TimingFields on RequestTimings {
    ttft {
      ...PercentileFields
    }
    duration {
      ...PercentileFields
    }
    __typename
  }
`;
