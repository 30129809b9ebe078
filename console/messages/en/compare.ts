/** English texts of the comparison of models. */
export const compare = {
  compare: {
    sentence:
      'Up to four models side by side. Times and success are measured on the requests of all customers.',
    add: 'Add a model',
    remove: 'Remove {{name}}',
    unknown: 'No model has this name. Choose one from the list.',
    health: 'State',
    uptime: 'Uptime, 90 days',
  },
} as const;
