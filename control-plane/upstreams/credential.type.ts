/** GraphQL types of credentials of upstreams. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { GlobalObject } from '../graphql/global-object.ts';

/** A credential of a provider. Its secret cannot be read. */
@ObjectType({
  implements: GlobalObject,
  description: 'A credential of a provider. Only its label and its last four characters can be read.',
})
export class UpstreamCredential extends GlobalObject {
  @Field(() => String, { description: 'Name of the credential.' })
  label!: string;

  @Field(() => String, { description: 'Last four characters of the secret.' })
  suffix!: string;

  @Field(() => Boolean, {
    description:
      'Whether nodes use it. False if host or kind of authentication of the provider have changed since.',
  })
  enabled!: boolean;
}

/** Input of `adminCredentialAdd`. */
@InputType({ description: 'A new credential.' })
export class AdminCredentialInput {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => String, { description: 'Name of the credential.' })
  label!: string;

  @Field(() => String, {
    description: 'The secret, in the form that the authentication of the provider needs. Write-only.',
  })
  secret!: string;

  @Field(() => String, {
    nullable: true,
    description: 'A client certificate in PEM. The secret is then its private key, and serves for TLS alone.',
  })
  certificate?: string | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}
