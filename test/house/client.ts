/** A person at the control plane's GraphQL API: keeps the session cookie, reads answers strictly. */

export interface UserError {
  code: string;
  message: string;
}

export interface ApiClient {
  /** The session, as browsers send it; empty before one is given. */
  cookie(): string;
  /** Sends an operation; throws on GraphQL errors with their codes in the message. */
  query<Data>(document: string, variables?: Record<string, unknown>): Promise<Data>;
  /** Runs one mutation field, throws when it answers with userErrors, and returns its payload. */
  mutate<Payload extends object>(
    field: string,
    input: Record<string, unknown>,
    selection: string,
  ): Promise<Payload>;
}

/** A client with the session given, or without one; signing in or registering through it gives it one. */
export function apiClient(controlUrl: string, session = ''): ApiClient {
  const jar = new Map(session ? [[nameOf(session), session]] : []);
  const cookies = (): string => [...jar.values()].join('; ');
  const query: ApiClient['query'] = async <Data>(
    document: string,
    variables: Record<string, unknown> = {},
  ) => {
    const response = await fetch(`${controlUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(jar.size > 0 && { cookie: cookies() }) },
      body: JSON.stringify({ query: document, variables }),
    });
    for (const line of response.headers.getSetCookie()) {
      const cookie = line.split(';')[0] ?? '';
      jar.set(nameOf(cookie), cookie);
    }
    const answer = (await response.json()) as {
      data?: Data;
      errors?: { message: string; extensions?: { code?: string } }[];
    };
    if (answer.errors || !answer.data) {
      throw new Error(
        (answer.errors ?? []).map((error) => `${error.extensions?.code}: ${error.message}`).join('; '),
      );
    }
    return answer.data;
  };
  return {
    cookie: cookies,
    query,
    mutate: async <Payload extends object>(
      field: string,
      input: Record<string, unknown>,
      selection: string,
    ) => {
      const type = `${(field[0] ?? '').toUpperCase()}${field.slice(1)}Input`;
      const named = INPUT_TYPES[field] ?? type;
      const document = `mutation ($input: ${named}!) {
        ${field}(input: $input) { ${selection} userErrors { code message } }
      }`;
      const data = await query<Record<string, Payload & { userErrors: UserError[] }>>(document, { input });
      const payload = data[field];
      if (!payload) throw new Error(`${field} answered nothing`);
      if (payload.userErrors.length > 0) {
        throw new Error(payload.userErrors.map((error) => `${error.code}: ${error.message}`).join('; '));
      }
      return payload;
    },
  };
}

function nameOf(cookie: string): string {
  return cookie.split('=')[0] ?? '';
}

/** Mutations whose input type is not named after them. */
const INPUT_TYPES: Record<string, string> = {
  accountDelete: 'ReauthenticateInput',
  apiKeyGraceEnd: 'IdInput',
  apiKeyReveal: 'IdInput',
  messageStop: 'IdInput',
  adminConfigurationApply: 'AdminConfigurationInput',
  adminModelRoutingSet: 'AdminModelRoutingInput',
  adminStorefrontSet: 'AdminStorefrontInput',
  adminPersonalIntelligenceSet: 'AdminPersonalIntelligenceInput',
  personalForgetEverything: 'ForgetEverythingInput',

  poolQuoteCreate: 'PoolQuoteInput',
  personalSwitchSet: 'PersonalSwitchInput',
  apiKeyEnable: 'IdInput',
  adminProviderUpsert: 'AdminProviderInput',
  adminCredentialAdd: 'AdminCredentialInput',
  adminRouteUpsert: 'AdminRouteInput',
  adminModelUpsert: 'AdminModelInput',
  adminModelSetState: 'AdminModelStateInput',
  adminGroupRatioSet: 'AdminGroupRatioInput',
  topUpCardCreate: 'TopUpCardInput',
  adminPaymentSettingsSet: 'AdminPaymentSettingsInput',
  adminWebhookSecretAdd: 'AdminWebhookSecretInput',
  autoTopUpSet: 'AutoTopUpInput',
};
