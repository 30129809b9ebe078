/** What stands for a key's secret in texts that set up clients: whoever shows them fills it in. */

/** Never a secret itself, and in no text by chance. */
export const SECRET_PLACE = 'YOUR_API_KEY';
