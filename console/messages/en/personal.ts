/** Words of the pages of one person: profile, help, models, the command palette. Sentence case, exact. */
export const personal = {
  profile: {},
} as const;
