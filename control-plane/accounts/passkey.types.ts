/** GraphQL types of passkeys and linked identities. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { GlobalObject } from '../graphql/global-object.ts';
import { AnyJson, DateTime, EmailAddress } from '../graphql/scalars.ts';

/** A passkey of a user. */
@ObjectType({ implements: GlobalObject, description: 'A passkey of a user.' })
export class Passkey extends GlobalObject {
  @Field(() => String, { description: 'Name that the user gave it.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it was added.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was last used.' })
  lastUsedAt?: Date | null;
}

/** An account at the identity provider with which the user can sign in. */
@ObjectType({
  implements: GlobalObject,
  description: 'An account at the identity provider with which the user can sign in.',
})
export class LinkedIdentity extends GlobalObject {
  @Field(() => String, { description: 'Issuer URL of the provider.' })
  provider!: string;

  @Field(() => EmailAddress, {
    nullable: true,
    description: 'E-mail address that the provider has verified.',
  })
  email?: string | null;

  @Field(() => DateTime, { description: 'When it was linked.' })
  createdAt!: Date;
}

/** Options that a browser needs to create or use a passkey. */
@ObjectType({ description: 'Options that a browser needs to create or use a passkey.' })
export class ChallengePayload {
  @Field(() => AnyJson, {
    description:
      'Options in their JSON form (WebAuthn Level 3): for PublicKeyCredential.parseCreationOptionsFromJSON ' +
      'or parseRequestOptionsFromJSON.',
  })
  options!: object;

  @Field(() => DateTime, { description: 'Until when the response is accepted. It is accepted once.' })
  expiresAt!: Date;
}

/** Input of `passkeyRegister`. */
@InputType({ description: 'A passkey that the browser created.' })
export class PasskeyRegisterInput {
  @Field(() => AnyJson, { description: 'The PublicKeyCredential as JSON (its toJSON).' })
  credential!: unknown;

  @Field(() => String, { description: 'Name of the passkey, 1 to 80 characters.' })
  name!: string;
}

/** Input of `passkeySignIn`. */
@InputType({ description: 'The response of a passkey to passkeySignInOptions.' })
export class PasskeySignInInput {
  @Field(() => AnyJson, { description: 'The PublicKeyCredential as JSON (its toJSON).' })
  credential!: unknown;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether the session ends after 14 days without use (true) or after one day (false).',
  })
  rememberMe!: boolean;
}

/** Input of `passkeyRename`. */
@InputType({ description: 'A new name of a passkey.' })
export class PasskeyRenameInput {
  @Field(() => ID, { description: 'The passkey.' })
  id!: string;

  @Field(() => String, { description: 'Name of the passkey, 1 to 80 characters.' })
  name!: string;
}
