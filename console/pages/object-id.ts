/** The id of an object: the prefix of its type, and a ULID. */
export const OBJECT_ID = /^[a-z]{3,4}_[0-9A-HJKMNP-TV-Z]{26}$/;
