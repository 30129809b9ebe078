/** English texts of the page about conformance. */
export const conformance = {
  conformance: {
    title: 'Conformance',
    sentence:
      'Clients and upstreams each speak one of four formats. This page shows how many recorded exchanges ' +
      'pass each pair of formats, and which clients were run against the gateway.',
    traffic: 'Recorded traffic',
    trafficNote:
      'Exchanges that pass, of those that both formats can express: answers, requests and errors. ' +
      'Measured on {{day}}.',
    client: 'Client format',
    over: 'Over {{format}}',
    formats: {
      'openai-chat': 'chat completions',
      'openai-responses': 'responses',
      'anthropic-messages': 'messages',
      'google-generate': 'generative language',
    },
    share: '{{passed}} of {{total}}',
    answers: 'Answers',
    requests: 'Requests',
    errors: 'Errors',
    streams: 'Valid streams: {{whole}} as recorded, {{odd}} cut into slices of other sizes.',
    clients: 'Clients',
    clientsNote: 'Each client ran against upstreams of all four formats.',
    name: 'Client',
    version: 'Version',
    passed: 'Passed over',
    failed: 'Failed over',
    day: 'Run on',
    none: 'None',
    notRun: 'Not run',
    suites: 'Third-party tests',
    suite: 'Tests',
    result: 'Result',
    exceptions: 'Exceptions',
  },
} as const;
