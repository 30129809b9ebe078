/** API types of passkeys and linked identities. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { NodeInterface } from '../node-interface.ts';
import { AnyJson, DateTime, EmailAddress } from '../scalars.ts';

/** A passkey of a user. */
@ObjectType({ implements: NodeInterface, description: 'A passkey of a user.' })
export class Passkey extends NodeInterface {
  @Field(() => String, { description: 'Its name for people.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it was added.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was last used.' })
  lastUsedAt?: Date | null;
}

/** An identity at a provider that signs in to the account. */
@ObjectType({
  implements: NodeInterface,
  description: 'An identity at a provider that signs in to the account.',
})
export class LinkedIdentity extends NodeInterface {
  @Field(() => String, { description: "The provider's address (issuer)." })
  provider!: string;

  @Field(() => EmailAddress, { nullable: true, description: 'The address that the provider verified.' })
  email?: string | null;

  @Field(() => DateTime, { description: 'When it was linked.' })
  createdAt!: Date;
}

/** What a browser is to be handed. */
@ObjectType({ description: 'What a browser is to be handed to make or use a passkey.' })
export class ChallengePayload {
  @Field(() => AnyJson, {
    description:
      'Options in their JSON form (WebAuthn Level 3): for PublicKeyCredential.parseCreationOptionsFromJSON ' +
      'or parseRequestOptionsFromJSON.',
  })
  options!: object;

  @Field(() => DateTime, { description: 'Until when the answer counts; it counts once.' })
  expiresAt!: Date;
}

/** A passkey that the browser just made. */
@InputType({ description: 'A passkey that the browser just made.' })
export class PasskeyRegisterInput {
  @Field(() => AnyJson, { description: 'The credential in its JSON form (its toJSON).' })
  credential!: unknown;

  @Field(() => String, { description: 'A name for people, at most 80 characters.' })
  name!: string;
}

/** What a passkey signed. */
@InputType({ description: 'What a passkey signed.' })
export class PasskeySignInInput {
  @Field(() => AnyJson, { description: 'The credential in its JSON form (its toJSON).' })
  credential!: unknown;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Stay signed in for 14 days without use instead of one day.',
  })
  rememberMe!: boolean;
}

/** A new name. */
@InputType({ description: 'A new name.' })
export class PasskeyRenameInput {
  @Field(() => ID, { description: 'The passkey.' })
  id!: string;

  @Field(() => String, { description: 'A name for people, at most 80 characters.' })
  name!: string;
}
