/** English texts of the status page, and of the page where administrators write incidents. */
export const status = {
  status: {
    title: 'Status',
    sentence: 'Uptime in the last 90 days, and incidents.',
    calm: 'No open incidents',
    now: {
      DEGRADATION: 'Some requests fail or are slow',
      OUTAGE: 'Most requests fail',
      MAINTENANCE: 'Maintenance in progress',
    },
    atom: 'Atom feed',
    json: 'JSON feed',
    open: 'Open incidents',
    planned: 'Planned maintenance',
    past: 'Past incidents',
    pastNone: 'No incidents in the last 90 days.',
    models: 'Models',
    families: 'Endpoints',
    rules:
      'Each day shows the share of requests that were answered. Refusals that the customer caused do not ' +
      'count. With few requests, it shows the share of successful probes. A day without data has a dash. ' +
      'A bar is yellow below 99 % and red below 95 %.',
    share: '{{value}} %',
    noData: 'No data',
    day: '{{day}}: {{share}}',
    lowest: 'Lowest day: {{share}} on {{day}}',
    chart: 'Uptime of {{name}} in the last 90 days: {{share}}',
    ago: '90 days ago',
    today: 'Today',
    affects: 'Affects {{names}}',
    everything: 'all models and endpoints',
    window: 'Planned from {{from}} to {{to}}',
    kinds: { DEGRADATION: 'Degradation', OUTAGE: 'Outage', MAINTENANCE: 'Maintenance' },
    states: {
      INVESTIGATING: 'Investigating',
      IDENTIFIED: 'Identified',
      MONITORING: 'Monitoring',
      SCHEDULED: 'Scheduled',
      IN_PROGRESS: 'In progress',
      RESOLVED: 'Resolved',
    },
    failed: 'The status could not be loaded',
    failedSafe: 'Try again in a minute.',
  },
} as const;
