/** The placeholder for an API key in client set-up texts. The console replaces it with the real key. */

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';
