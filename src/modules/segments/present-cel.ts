import type { z } from '@hono/zod-openapi'
import { context } from '../../domain/cel/index.ts'
import { errorAt, nameOf as typeName } from '../../domain/cel/types.ts'
import type { CelContextWire, CelValidation, ExplanationWire } from './cel-contract.ts'
import type { SegmentExplanation } from './explain.ts'
import type { KnownValues } from './known-values.ts'
import type { Validation } from './validate.ts'

export const presentContext = (values: KnownValues): CelContextWire => ({
  variables: context.variables.map(({ name, type, description, fields }) => ({
    name,
    type: typeName(type),
    description,
    fields: fields.map((field) => ({
      path: field.path,
      type: typeName(field.type),
      nullable: field.nullable,
      description: field.description,
      ...(field.values_from ? { values_from: field.values_from } : {}),
    })),
  })),
  functions: [...context.functions],
  dynamic_values: values,
  examples: [...context.examples],
})

export const presentValidation = ({
  source,
  checked,
  warnings,
  estimate,
}: Validation): z.input<typeof CelValidation> => ({
  is_valid: checked.ok,
  return_type: checked.ok ? 'bool' : null,
  errors: checked.ok ? [] : checked.errors,
  warnings: warnings.map(({ literal, suggestion }) => ({
    ...errorAt(source, 'unknown_value', `There is no ${literal.field} "${literal.value}".`, literal),
    suggestion,
  })),
  estimated_user_count: estimate.count,
  is_estimate: estimate.isSampled,
})

type ConditionName = ExplanationWire['conditions'][number]['name']

export function presentExplanation({
  segment,
  userId,
  parts,
  conditions,
  wasMember,
}: SegmentExplanation): ExplanationWire {
  const holds = parts[0]?.value === true
  const failing = conditions.find(({ reason }) => reason !== null)
  return {
    user_id: userId,
    is_member: holds && !failing,
    excluded_for: holds ? (failing?.reason ?? null) : 'expression',
    parts,
    conditions: conditions.map(({ name, reason }) => ({ name: name as ConditionName, value: reason === null, reason })),
    segment_status: segment.status,
    was_member: wasMember,
  }
}
