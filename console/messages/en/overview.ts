/** English texts of the administrators' overview. */
export const overview = {
  admin: {
    overview: {
      sentence: 'The last 24 hours, and what needs attention.',
      attention: 'Needs attention',
      fine: 'Nothing needs attention',
      upstream: 'Upstream {{name}}',
      lastDay: 'Last 24 hours',
      requests: 'Requests',
      revenue: 'Charged',
      failureRate: 'Failure rate',
      before: 'Day before: {{value}}',
      byHour: 'The last 24 hours by hour',
      load: '{{rps}} requests/s, {{inflight}} in flight',
      hourTitle: '{{hour}}: {{cost}}, requests: {{count}}',
      nothing: 'No requests in the last 24 hours',
      others_one: '{{count}} other',
      others_other: '{{count}} others',
      topModels: 'Models by cost',
      topUsers: 'Users by cost',
      count_one: '{{count}} request',
      count_other: '{{count}} requests',
      open: 'Open',
      steps: {
        node: 'Connect a node',
        upstream: 'Add an upstream with the credentials of a provider',
        route: 'Add a route from a model to the upstream',
        model: 'Publish a model with its price',
      },
    },
  },
} as const;
