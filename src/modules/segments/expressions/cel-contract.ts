import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../../domain/accounts/access.ts'
import { answerStates } from '../../../domain/consents/consents.ts'
import { channels } from '../../../domain/messaging/messaging.ts'
import { communicationTypes, segmentStatuses } from '../../../domain/segments.ts'
import { Count, Id, IdParams } from '../../../http/fields.ts'
import { IdFilter } from '../../../http/requests/list-query.ts'
import { operation } from '../../../http/operations/operation.ts'
import { keepers } from '../contract.ts'

const tag = 'Segments' as const

const valueKinds = [
  'products',
  'variants',
  'locations',
  'options',
  'consents',
  'locales',
  'editions',
  'order_statuses',
  'order_types',
  'purchase_statuses',
  'consent_statuses',
  'currencies',
  'campaigns',
] as const
export type ValueKind = (typeof valueKinds)[number]

/** The most values of a kind that are listed. */
export const valuesShown = 200

const KnownValue = z
  .object({
    value: z.string().openapi({ description: 'As it is written in an expression.', example: 'dkk' }),
    label: z.string(),
    count: Count.openapi({ description: 'How often it occurs among the newest orders and people.' }),
  })
  .openapi('CelKnownValue')

export type KnownValue = z.output<typeof KnownValue>

const Field = z
  .object({
    path: z.string().openapi({ example: 'user.email' }),
    type: z.string().openapi({ example: 'string' }),
    nullable: z.boolean(),
    description: z.string(),
    values_from: z.enum(valueKinds).optional().openapi({ description: 'Where `dynamic_values` lists what it can be.' }),
  })
  .openapi('CelField')

const CelContext = z
  .object({
    variables: z.array(
      z.object({ name: z.string(), type: z.string(), description: z.string(), fields: z.array(Field) }),
    ),
    functions: z.array(
      z.object({ name: z.string(), signature: z.string(), description: z.string(), example: z.string() }),
    ),
    dynamic_values: z
      .object(
        Object.fromEntries(valueKinds.map((kind) => [kind, z.array(KnownValue).max(valuesShown)])) as KnownValuesShape,
      )
      .openapi({ description: 'The most frequent first.' }),
    examples: z.array(z.object({ title: z.string(), expression: z.string() })),
  })
  .openapi('CelContext')

type KnownValuesShape = Record<ValueKind, z.ZodArray<typeof KnownValue>>

const TenantQuery = z.object({
  organization_id: IdFilter.optional().openapi({ description: 'Required unless `edition_id` is given.' }),
  edition_id: IdFilter.optional().openapi({ description: 'Required unless `organization_id` is given.' }),
})

export const getCelContext = operation({
  id: 'getCelContext',
  tag,
  method: 'get',
  path: '/v1/segments/cel-context',
  summary: 'Get CEL context schema and dynamic values',
  description:
    'The fields of expressions, and the values that occur in this organisation or edition, counted among its newest 10,000 orders and people. For an organisation, a caller without a role in it gets the values of the editions in which the caller has a role.',
  roles: roleCodes,
  query: TenantQuery,
  response: CelContext,
})

const Place = {
  line: z.int().openapi({ description: 'From 1.', example: 1 }),
  column: z.int().openapi({ description: 'From 1.', example: 6 }),
  start: z.int().openapi({ description: 'First character, from 0.', example: 5 }),
  end: z.int().openapi({ description: 'The character after the last.', example: 10 }),
}

const CelIssue = z
  .object({ code: z.string().openapi({ example: 'no_such_key' }), message: z.string(), ...Place })
  .openapi('CelIssue')

const CelWarning = CelIssue.extend({
  suggestion: z
    .string()
    .nullable()
    .openapi({ description: 'The known value that is most like it; null when none is.' }),
}).openapi('CelWarning')

export const CelValidation = z
  .object({
    is_valid: z.boolean(),
    return_type: z.string().nullable().openapi({ description: 'Null for an expression with errors.', example: 'bool' }),
    errors: z.array(CelIssue),
    warnings: z.array(CelWarning),
    estimated_user_count: Count.nullable().openapi({
      description:
        'How many people the expression holds for at present. Null for an expression with errors, and where they were not to be counted.',
    }),
    is_estimate: z.boolean().openapi({
      description:
        'The count is about right: of more than 10,000 people, or fewer where the expression takes long, about 2,000 were asked, chosen by the random last letters of their ids.',
    }),
  })
  .openapi('CelValidation')

const ValidateCel = z.object({
  expression: z.string(),
  organization_id: Id('org').optional(),
  edition_id: Id('edt').optional().openapi({ description: 'At least one of the two.' }),
  communication_type: z.enum(communicationTypes).optional(),
  communication_channel: z.enum(channels).optional().openapi({
    description: 'With `communication_type`: only people who would be members are counted.',
  }),
})

export type ValidateCelInput = z.output<typeof ValidateCel>

export const validateCel = operation({
  id: 'validateCel',
  tag,
  method: 'post',
  path: '/v1/segments/validate-cel',
  scope: 'read',
  summary: 'Validate CEL expression',
  description:
    'Answers 200 for any expression. It is tested for one edition, or with `organization_id` alone for the whole organisation: for a caller without a role in it, for the editions in which the caller has a role. An error `cost_exceeded` is about lists inside of lists that are too long for it. A warning `unknown_value` is about an id, a key or the name of a product that does not exist, with the nearest that the caller may see.',
  roles: roleCodes,
  body: ValidateCel,
  example: { expression: 'user.emial == "a"', organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' },
  response: CelValidation,
})

const Truth = z.boolean().nullable().openapi({ description: 'Null for an error, which counts as not true.' })

const Explanation = z
  .object({
    user_id: Id('usr'),
    is_member: z.boolean().openapi({ description: 'Would be a member if the segment were calculated now.' }),
    excluded_for: z
      .string()
      .nullable()
      .openapi({ description: 'The first condition that keeps the person out; null for a member.' }),
    parts: z
      .array(
        z.object({
          start: z.int(),
          end: z.int(),
          text: z.string().openapi({ example: 'stats.order_count >= 2' }),
          value: Truth,
        }),
      )
      .openapi({ description: 'Each condition of the expression; the first is the whole.' }),
    conditions: z
      .array(
        z.object({
          name: z.enum(['edition', 'address', 'consent', 'suppression', 'active']),
          value: z.boolean(),
          reason: z
            .string()
            .nullable()
            .openapi({ description: 'Null when the condition holds.', example: 'no_consent' }),
        }),
      )
      .openapi({ description: 'What the type and the channel of the segment ask besides.' }),
    consents: z
      .array(
        z.object({
          key: z.string().openapi({ example: 'newsletter' }),
          consent_id: Id('con'),
          record_id: Id('cre').nullable().openapi({ description: 'The answer that decided; null before the first.' }),
          status: z.enum(answerStates),
          is_current: z.boolean(),
          decides: z.enum(['expression', 'audience']),
        }),
      )
      .openapi({
        description: 'The answers that the expression names, and the one by which marketing may or may not come.',
      }),
    segment_status: z.enum(segmentStatuses),
    was_member: z.boolean().nullable().openapi({ description: 'At the last calculation; null without one.' }),
  })
  .openapi('SegmentExplanation')

export const explainSegment = operation({
  id: 'explainSegment',
  tag,
  method: 'get',
  path: '/v1/segments/{id}/explain',
  summary: 'Explain a segment for one person',
  description: 'Why a person is in the segment or not, by the data of this moment.',
  roles: keepers,
  params: IdParams('seg'),
  query: z.object({ user_id: IdFilter.min(1).openapi({ description: 'The customer.' }) }),
  response: Explanation,
})

export type ExplanationWire = z.input<typeof Explanation>
export type CelContextWire = z.input<typeof CelContext>
