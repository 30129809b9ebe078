/** Limits of one operation (depth, aliases, root fields, cost), the same over HTTP and WebSocket. */
import {
  getNamedType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  visit,
} from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLError,
  GraphQLField,
  GraphQLNamedType,
  GraphQLSchema,
  SelectionSetNode,
} from 'graphql';
import {
  ALIASES_MAX,
  COST_MAX,
  DEPTH_MAX,
  HASH_COST,
  HASHES_PER_OPERATION,
  HASHING_MUTATIONS,
  INTROSPECTION_DEPTH_MAX,
  MUTATIONS_PER_OPERATION,
  PAGE_MAX,
  ROOT_FIELDS_MAX,
} from '../limits.ts';
import { requestError } from './errors.ts';

export { TOKENS_MAX } from '../limits.ts';

/** A validated operation. */
interface Operation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

interface Measure {
  depth: number;
  introspectionDepth: number;
  cost: number;
  /** Fields of this level, counted through fragments. */
  fields: number;
  /** Fields among them whose mutations compute a password hash. */
  hashes: number;
}

/** The measure of no selection. */
const NOTHING: Measure = { depth: 0, introspectionDepth: 0, cost: 0, fields: 0, hashes: 0 };

/** The cost of the operation, at least 1, and one error for each limit that it exceeds. */
export function measureOperation(operation: Operation): { cost: number; errors: GraphQLError[] } {
  const definition = getOperationAST(operation.document, operation.operationName);
  const root = definition && operation.schema.getRootType(definition.operation);
  if (!root) return { cost: 1, errors: [] };
  const meter = new Meter(operation);
  const measure = meter.measure(definition.selectionSet, root);
  const errors: GraphQLError[] = [];
  const check = (value: number, maximum: number, what: string): void => {
    if (value > maximum)
      errors.push(tooComplex(`${what}: ${value}, at most ${maximum}. Split it.`, { value, maximum }));
  };
  check(measure.depth, DEPTH_MAX, 'The operation is nested too deeply');
  check(measure.introspectionDepth, INTROSPECTION_DEPTH_MAX, 'The introspection is nested too deeply');
  check(aliasesOf(operation.document), ALIASES_MAX, 'The operation has too many aliases');
  const isMutation = definition.operation === 'mutation';
  check(measure.fields, ROOT_FIELDS_MAX, 'The operation has too many root fields');
  if (isMutation) {
    check(measure.fields, MUTATIONS_PER_OPERATION, 'The operation has too many mutations');
    check(measure.hashes, HASHES_PER_OPERATION, 'The operation has too many mutations that check a password');
  }
  check(measure.cost, COST_MAX, 'The operation costs too much');
  const hashes = isMutation ? measure.hashes : 0;
  return { cost: Math.max(1, measure.cost) + hashes * HASH_COST, errors };
}

function tooComplex(message: string, numbers: { value: number; maximum: number }): GraphQLError {
  return requestError('QUERY_TOO_COMPLEX', message, { ...numbers, http: { status: 400 } });
}

function aliasesOf(document: DocumentNode): number {
  let count = 0;
  visit(document, {
    Field: (field) => {
      if (field.alias) count += 1;
    },
  });
  return count;
}

/** Measures selections. Each fragment is measured once, so that nested fragments do not multiply the work. */
class Meter {
  readonly #operation: Operation;
  readonly #fragments: Map<string, FragmentDefinitionNode>;
  readonly #measured = new Map<string, Measure>();

  constructor(operation: Operation) {
    this.#operation = operation;
    this.#fragments = new Map(
      operation.document.definitions
        .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
        .map((node) => [node.name.value, node]),
    );
  }

  measure(selections: SelectionSetNode, parent: GraphQLNamedType): Measure {
    const total = { ...NOTHING };
    for (const selection of selections.selections) {
      const part =
        selection.kind === Kind.FIELD
          ? this.#field(selection, parent)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? this.measure(selection.selectionSet, this.#type(selection.typeCondition?.name.value) ?? parent)
            : this.#fragment(selection.name.value);
      total.depth = Math.max(total.depth, part.depth);
      total.introspectionDepth = Math.max(total.introspectionDepth, part.introspectionDepth);
      total.cost += part.cost;
      total.fields += part.fields;
      total.hashes += part.hashes;
    }
    return total;
  }

  #fragment(name: string): Measure {
    const known = this.#measured.get(name);
    const fragment = this.#fragments.get(name);
    if (known || !fragment) return known ?? NOTHING;
    const type = this.#type(fragment.typeCondition.name.value);
    const measured = type ? this.measure(fragment.selectionSet, type) : NOTHING;
    this.#measured.set(name, measured);
    return measured;
  }

  #field(node: FieldNode, parent: GraphQLNamedType): Measure {
    const name = node.name.value;
    const own = { fields: 1, hashes: HASHING_MUTATIONS.has(name) ? 1 : 0 };
    if (!node.selectionSet) return { depth: 1, introspectionDepth: 1, cost: 0, ...own };
    if (name === '__schema' || name === '__type') {
      const type = this.#type(name === '__schema' ? '__Schema' : '__Type');
      const inner = type ? this.measure(node.selectionSet, type) : NOTHING;
      return { depth: 1, introspectionDepth: inner.depth + 1, cost: inner.cost + 1, ...own };
    }
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    const type = field ? getNamedType(field.type) : undefined;
    const inner = type && isCompositeType(type) ? this.measure(node.selectionSet, type) : NOTHING;
    return {
      depth: inner.depth + 1,
      introspectionDepth: inner.introspectionDepth,
      cost: 1 + inner.cost * (field ? this.#pageSize(node, field) : 1),
      ...own,
    };
  }

  /** Maximum number of items per page of the field; 1 if it is not a paginated list. */
  #pageSize(node: FieldNode, field: GraphQLField<unknown, unknown>): number {
    // It has the whole catalog, without pages.
    if (node.name.value === 'serviceStatus') return PAGE_MAX;
    const definition = field.args.find((argument) => argument.name === 'first');
    if (!definition) return 1;
    const given = node.arguments?.find((argument) => argument.name.value === 'first')?.value;
    const value: unknown =
      given?.kind === Kind.INT
        ? Number(given.value)
        : given?.kind === Kind.VARIABLE
          ? (this.#operation.variables?.[given.name.value] ?? PAGE_MAX)
          : definition.defaultValue;
    return typeof value === 'number' && value >= 1 ? Math.min(value, PAGE_MAX) : PAGE_MAX;
  }

  #type(name: string | undefined): GraphQLNamedType | undefined {
    return name === undefined ? undefined : this.#operation.schema.getType(name);
  }
}
