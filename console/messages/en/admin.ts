/** Words of the administrators' pages. Sentence case, present tense, exact. */
export const admin = {
  admin: {},
} as const;
