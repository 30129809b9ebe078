/** The presets of providers over GraphQL. */
import 'reflect-metadata';
import { Field, FieldResolver, ID, ObjectType, Resolver } from 'type-graphql';
import type { ProtocolName } from '@gateway/shared/catalog';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import { UPSTREAM_PRESETS } from '@gateway/shared/clouds/presets';
import type { Quirk } from '@gateway/shared/quirks';
import { AdminQuery } from '../graphql/admin-query.ts';
import { ProviderProtocol } from '../graphql/enums.ts';
import { WebAddress } from '../graphql/scalars.ts';
import { UpstreamAccessSettings } from './access.type.ts';
import { UpstreamQuirk } from './quirk.type.ts';

/** Initial values of the form of an upstream, for a well-known provider. */
@ObjectType({
  description: 'Values for adminProviderUpsert of a well-known provider. Replace the words in capitals.',
})
export class UpstreamPreset {
  @Field(() => ID, { description: 'Id of the preset, which stays the same in later versions.' })
  id!: string;

  @Field(() => String, { description: 'Name of the provider.' })
  name!: string;

  @Field(() => WebAddress, { description: 'Base address.' })
  baseUrl!: string;

  @Field(() => [ProviderProtocol], { description: 'Chat formats that it supports.' })
  protocols!: readonly ProtocolName[];

  @Field(() => UpstreamAccessSettings, {
    nullable: true,
    description: 'How it is reached; null for an API key in the header of the request format.',
  })
  access!: UpstreamAccess | null;

  @Field(() => WebAddress, { description: "The provider's page from which the values come." })
  source!: string;

  @Field(() => [UpstreamQuirk], { description: 'Its known quirks, for `quirks` of adminProviderUpsert.' })
  quirks!: readonly Quirk[];

  @Field(() => WebAddress, { nullable: true, description: "The provider's page about them; null for none." })
  quirksSource!: string | null;
}

/** The presets, for administrators. */
@Resolver(() => AdminQuery)
export class UpstreamPresetsResolver {
  @FieldResolver(() => [UpstreamPreset], { description: 'Presets of well-known providers.' })
  upstreamPresets(): readonly UpstreamPreset[] {
    return UPSTREAM_PRESETS;
  }
}
