/** GraphQL types of how an upstream is reached. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { AuthKind, ExtraPair, RequestStyle } from '@gateway/shared/clouds/access';
import { describeEnum } from '../graphql/enums.ts';
import { WebAddress } from '../graphql/scalars.ts';

const UpstreamAuth = describeEnum<AuthKind>(
  'UpstreamAuth',
  'How requests to an upstream are authenticated.',
  {
    API_KEY: 'The secret in the header of the request format.',
    BEARER: 'The secret as a bearer token, whatever the format.',
    AZURE_API_KEY: 'The secret in the header api-key.',
    AZURE_ENTRA:
      'A Microsoft Entra token for tenantId and clientId. The secret is the client secret, or a ' +
      'certificate with its RSA key in PEM.',
    AWS_KEYS: 'Signature Version 4. The secret is JSON: accessKeyId, secretAccessKey, optional sessionToken.',
    AWS_WEB_IDENTITY:
      'Signature Version 4 with temporary keys of roleArn for the identity token of the node.',
    GOOGLE_SERVICE_ACCOUNT: 'A Google token for a service account. The secret is its JSON key file.',
    GOOGLE_WORKLOAD_IDENTITY: 'A Google token for the identity token of the node and audience.',
  },
);

const UpstreamStyle = describeEnum<RequestStyle>(
  'UpstreamStyle',
  'Paths and bodies that an upstream expects.',
  {
    STANDARD: 'Those of the format.',
    BEDROCK: "Amazon Bedrock's InvokeModel, for messages.",
    VERTEX: "Google Vertex AI's publisher models, for messages and generative language.",
  },
);

/** A header or query parameter. */
@ObjectType({ description: 'A header or query parameter that every request gets.' })
export class UpstreamPair {
  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => String, { description: 'Value. It is not a secret: administrators can read it.' })
  value!: string;
}

/** How an upstream is reached. */
@ObjectType({
  description: 'How an upstream is reached: authentication, request style, extra headers, proxy.',
})
export class UpstreamAccessSettings {
  @Field(() => UpstreamAuth, { description: 'How requests are authenticated.' })
  auth!: AuthKind;

  @Field(() => String, { nullable: true, description: 'Directory (tenant) of the application. AZURE_ENTRA.' })
  tenantId!: string | null;

  @Field(() => String, { nullable: true, description: 'Id of the application. AZURE_ENTRA.' })
  clientId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Scope of the token; null for https://cognitiveservices.azure.com/.default. AZURE_ENTRA.',
  })
  scope!: string | null;

  @Field(() => String, { nullable: true, description: 'Region in signatures. AWS_KEYS, AWS_WEB_IDENTITY.' })
  region!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Service in signatures; null for bedrock. AWS_KEYS, AWS_WEB_IDENTITY.',
  })
  service!: string | null;

  @Field(() => String, { nullable: true, description: 'Role that nodes take. AWS_WEB_IDENTITY.' })
  roleArn!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Full name of the workload identity provider. GOOGLE_WORKLOAD_IDENTITY.',
  })
  audience!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Service account that nodes act as; null for none. GOOGLE_WORKLOAD_IDENTITY.',
  })
  serviceAccount!: string | null;

  @Field(() => WebAddress, {
    nullable: true,
    description: "Where tokens are fetched; null for the cloud's public address.",
  })
  tokenUrl!: string | null;

  @Field(() => UpstreamStyle, { description: 'Paths and bodies of requests.' })
  style!: RequestStyle;

  @Field(() => String, {
    nullable: true,
    description: 'Path below the base address, with {path} and {model}; null for {path}.',
  })
  pathTemplate!: string | null;

  @Field(() => [UpstreamPair], { description: 'Headers that every request gets.' })
  headers!: readonly ExtraPair[];

  @Field(() => [UpstreamPair], { description: 'Query parameters that every request gets.' })
  query!: readonly ExtraPair[];

  @Field(() => WebAddress, { nullable: true, description: 'HTTP proxy that nodes use; null for none.' })
  proxyUrl!: string | null;
}

/** A header or query parameter to set. */
@InputType({ description: 'A header or query parameter that every request gets.' })
export class UpstreamPairInput {
  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => String, { description: 'Value. Not a secret.' })
  value!: string;
}

/** How an upstream is reached. */
@InputType({
  description: 'How an upstream is reached. Set the parameters that the kind of authentication uses.',
})
export class UpstreamAccessInput {
  @Field(() => UpstreamAuth, { defaultValue: 'API_KEY', description: 'How requests are authenticated.' })
  auth!: AuthKind;

  @Field(() => String, { nullable: true, description: 'Directory (tenant) of the application. AZURE_ENTRA.' })
  tenantId?: string | null;

  @Field(() => String, { nullable: true, description: 'Id of the application. AZURE_ENTRA.' })
  clientId?: string | null;

  @Field(() => String, { nullable: true, description: 'Scope of the token. AZURE_ENTRA.' })
  scope?: string | null;

  @Field(() => String, { nullable: true, description: 'Region in signatures. AWS_KEYS, AWS_WEB_IDENTITY.' })
  region?: string | null;

  @Field(() => String, { nullable: true, description: 'Service in signatures. AWS_KEYS, AWS_WEB_IDENTITY.' })
  service?: string | null;

  @Field(() => String, { nullable: true, description: 'Role that nodes take. AWS_WEB_IDENTITY.' })
  roleArn?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Full name of the workload identity provider. GOOGLE_WORKLOAD_IDENTITY.',
  })
  audience?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Service account that nodes act as. GOOGLE_WORKLOAD_IDENTITY.',
  })
  serviceAccount?: string | null;

  @Field(() => WebAddress, { nullable: true, description: 'Where tokens are fetched.' })
  tokenUrl?: string | null;

  @Field(() => UpstreamStyle, { defaultValue: 'STANDARD', description: 'Paths and bodies of requests.' })
  style!: RequestStyle;

  @Field(() => String, {
    nullable: true,
    description: 'Path below the base address, with {path} and {model}, e.g. /deployments/{model}{path}.',
  })
  pathTemplate?: string | null;

  @Field(() => [UpstreamPairInput], { nullable: true, description: 'At most 20 headers.' })
  headers?: ExtraPair[] | null;

  @Field(() => [UpstreamPairInput], { nullable: true, description: 'At most 20 query parameters.' })
  query?: ExtraPair[] | null;

  @Field(() => WebAddress, { nullable: true, description: 'HTTP proxy that nodes use.' })
  proxyUrl?: string | null;
}
