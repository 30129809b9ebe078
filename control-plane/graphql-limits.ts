/**
 * What one operation may ask at most, the same over HTTP and WebSocket: depth, aliases, root fields, cost.
 */
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
import { requestError } from './errors.ts';

/** Given to the parser, before anything else looks at the document. */
export const TOKENS_MAX = 5000;
export const DEPTH_MAX = 12;
/** Of `__schema` and `__type`, whose standard query is deeper than any of ours. */
const INTROSPECTION_DEPTH_MAX = 20;
const ALIASES_MAX = 30;
const ROOT_FIELDS_MAX = 20;
/** Objects that an operation can make us read: a list counts its `first` times what stands in it. */
export const COST_MAX = 2000;
const PAGE_MAX = 100;

export interface Operation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

interface Measure {
  depth: number;
  introspectionDepth: number;
  cost: number;
}

/**
 * What a valid operation costs, at least 1, and the limits that it breaks as GraphQL errors; none when it may
 * run.
 */
export function weigh(operation: Operation): { cost: number; broken: GraphQLError[] } {
  const definition = getOperationAST(operation.document, operation.operationName);
  const root = definition && operation.schema.getRootType(definition.operation);
  if (!root) return { cost: 1, broken: [] };
  const meter = new Meter(operation);
  const measure = meter.measure(definition.selectionSet, root);
  const errors: GraphQLError[] = [];
  const check = (value: number, maximum: number, what: string): void => {
    if (value > maximum)
      errors.push(tooComplex(`${what}: ${value}, at most ${maximum}.`, { value, maximum }));
  };
  check(measure.depth, DEPTH_MAX, 'The operation is nested too deeply');
  check(measure.introspectionDepth, INTROSPECTION_DEPTH_MAX, 'The introspection is nested too deeply');
  check(aliasesOf(operation.document), ALIASES_MAX, 'The operation has too many aliases');
  check(definition.selectionSet.selections.length, ROOT_FIELDS_MAX, 'The operation has too many root fields');
  check(measure.cost, COST_MAX, 'The operation asks for too much at once');
  return { cost: Math.max(1, measure.cost), broken: errors };
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

/** Measures selections; each fragment once, so that fragments of fragments cannot blow up the work. */
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
    const total = { depth: 0, introspectionDepth: 0, cost: 0 };
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
    }
    return total;
  }

  #fragment(name: string): Measure {
    const known = this.#measured.get(name);
    const fragment = this.#fragments.get(name);
    if (known || !fragment) return known ?? { depth: 0, introspectionDepth: 0, cost: 0 };
    const type = this.#type(fragment.typeCondition.name.value);
    const measured = type
      ? this.measure(fragment.selectionSet, type)
      : { depth: 0, introspectionDepth: 0, cost: 0 };
    this.#measured.set(name, measured);
    return measured;
  }

  #field(node: FieldNode, parent: GraphQLNamedType): Measure {
    if (!node.selectionSet) return { depth: 1, introspectionDepth: 1, cost: 0 };
    const name = node.name.value;
    if (name === '__schema' || name === '__type') {
      const type = this.#type(name === '__schema' ? '__Schema' : '__Type');
      const inner = type
        ? this.measure(node.selectionSet, type)
        : { depth: 0, introspectionDepth: 0, cost: 0 };
      return { depth: 1, introspectionDepth: inner.depth + 1, cost: inner.cost + 1 };
    }
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    const type = field ? getNamedType(field.type) : undefined;
    const inner =
      type && isCompositeType(type)
        ? this.measure(node.selectionSet, type)
        : { depth: 0, introspectionDepth: 0, cost: 0 };
    return {
      depth: inner.depth + 1,
      introspectionDepth: inner.introspectionDepth,
      cost: 1 + inner.cost * (field ? this.#pageSize(node, field) : 1),
    };
  }

  /** How many items the field's `first` asks for; 1 where it is no list with pages. */
  #pageSize(node: FieldNode, field: GraphQLField<unknown, unknown>): number {
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
