/**
 * `npm run schema`: writes the API's schema, sorted, into schema.graphql. Run it after every change of the
 * API.
 */
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { createBus } from '../database/events.ts';
import { createSchema } from './schema.ts';
import { printedSchema } from './schema-file.ts';

writeFileSync('control-plane/schema.graphql', printedSchema(createSchema(createBus())));
