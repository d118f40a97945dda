import type { z } from '@hono/zod-openapi'
import { context, type ValueKind } from '../../../domain/cel/index.ts'
import { buildError, formatType } from '../../../domain/cel/types.ts'
import type { CelContextWire, CelValidation, ExplanationWire } from './cel-contract.ts'
import type { SegmentExplanation } from './explain.ts'
import type { KnownValues } from './known-values.ts'
import type { NoValueWarning, UnknownValueWarning, Validation } from './validate.ts'

export const presentContext = (values: KnownValues): CelContextWire => ({
  variables: context.variables.map(({ name, type, description, fields }) => ({
    name,
    type: formatType(type),
    description,
    fields: fields.map((field) => ({
      path: field.path,
      type: formatType(field.type),
      nullable: field.nullable,
      description: field.description,
      ...(field.values_from ? { values_from: field.values_from } : {}),
    })),
  })),
  functions: [...context.functions],
  dynamic_values: values,
  examples: [...context.examples],
})

const nouns: Record<ValueKind, string> = {
  products: 'product',
  variants: 'variant',
  locations: 'location',
  options: 'option',
  consents: 'consent',
  locales: 'person with the language',
  editions: 'edition',
  order_statuses: 'order status',
  order_types: 'order type',
  purchase_statuses: 'purchase status',
  consent_statuses: 'consent status',
  currencies: 'order in the currency',
  campaigns: 'campaign',
  campaign_links: 'link of a campaign with the address',
  message_states: 'state of a message',
  message_reasons: 'reason',
}

function describeUnknownValue({ literal, suggestion }: UnknownValueWarning): string {
  const noun = nouns[literal.values_from] + (literal.by === 'label' ? ' with the name' : '')
  const problem = `There is no ${noun} "${literal.value}".`
  if (!suggestion) return problem
  const label = literal.by === 'value' && suggestion.label !== suggestion.value ? ` (${suggestion.label})` : ''
  return `${problem} Did you mean "${suggestion[literal.by]}"${label}?`
}

function describeNoValue({ use: { path }, estimate: { count, isExtrapolated } }: NoValueWarning): string {
  const people = count === 1 ? '1 person has' : `${isExtrapolated ? 'About ' : ''}${count} people have`
  const them = count === 1 ? 'this person' : 'them'
  return `${people} no value in \`${path}\`, so this does not hold for ${them}. Add \`${path} == null ||\` to include ${them}.`
}

export const presentCelValidation = ({
  source,
  checkedExpression,
  warnings,
  noValueWarnings,
  estimate,
}: Validation): z.input<typeof CelValidation> => ({
  is_valid: checkedExpression.ok,
  return_type: checkedExpression.ok ? 'bool' : null,
  errors: checkedExpression.ok ? [] : checkedExpression.errors,
  warnings: [
    ...warnings.map((warning) => ({
      ...buildError(source, 'unknown_value', describeUnknownValue(warning), warning.literal),
      suggestion: warning.suggestion?.[warning.literal.by] ?? null,
    })),
    ...noValueWarnings.map((warning) => ({
      ...buildError(source, 'no_value', describeNoValue(warning), warning.use),
      suggestion: null,
    })),
  ],
  estimated_user_count: estimate.count,
  is_estimate: estimate.isExtrapolated,
})

type ConditionName = ExplanationWire['conditions'][number]['name']

/** Decides whether the person would be a member, and by which condition the person is excluded. */
export function decideMembership({ parts, conditions }: SegmentExplanation) {
  const holds = parts[0]?.value === true
  const failingCondition = conditions.find(({ reason }) => reason !== null)
  return {
    is_member: holds && !failingCondition,
    excluded_for: holds ? (failingCondition?.reason ?? null) : 'expression',
  }
}

export const presentExplanation = (explanation: SegmentExplanation): ExplanationWire => ({
  user_id: explanation.userId,
  ...decideMembership(explanation),
  parts: explanation.parts,
  conditions: explanation.conditions.map(({ name, reason }) => ({
    name: name as ConditionName,
    value: reason === null,
    reason,
  })),
  consents: explanation.consents,
  segment_status: explanation.segment.status,
  was_member: explanation.wasMember,
})
