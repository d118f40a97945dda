import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../../domain/accounts/access.ts'
import { valueKinds } from '../../../domain/cel/types.ts'
import { answerStates } from '../../../domain/consents/consents.ts'
import { channels } from '../../../domain/messaging/messaging.ts'
import { communicationTypes, segmentStatuses } from '../../../domain/segments.ts'
import { Count, Id, IdParams } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { IdFilter } from '../../../http/requests/list-query.ts'

const tag = 'Segments' as const

export const maxValuesListed = 200

const KnownValue = z
  .object({
    value: z.string().openapi({ description: 'The value to write in an expression.', example: 'dkk' }),
    label: z.string(),
    count: Count.openapi({ description: 'How often the value occurs among the newest orders and people.' }),
  })
  .openapi('CelKnownValue')

export type KnownValue = z.output<typeof KnownValue>

const Field = z
  .object({
    path: z.string().openapi({ example: 'user.email' }),
    type: z.string().openapi({ example: 'string' }),
    nullable: z.boolean(),
    description: z.string(),
    values_from: z
      .enum(valueKinds)
      .optional()
      .openapi({ description: 'The list in `dynamic_values` that has the values of this field.' }),
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
        Object.fromEntries(
          valueKinds.map((kind) => [kind, z.array(KnownValue).max(maxValuesListed)]),
        ) as KnownValuesShape,
      )
      .openapi({ description: 'Values that occur, the most frequent first.' }),
    examples: z.array(z.object({ title: z.string(), expression: z.string() })),
  })
  .openapi('CelContext')

type KnownValuesShape = Record<(typeof valueKinds)[number], z.ZodArray<typeof KnownValue>>

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
    'Lists the variables, fields and functions of expressions, and the values that occur among the newest 10,000 orders and people. With `organization_id`, a caller without a role in the organisation gets the values of the editions where the caller has a role.',
  roles: roleCodes,
  query: TenantQuery,
  response: CelContext,
})

const Place = {
  line: z.int().openapi({ description: 'From 1.', example: 1 }),
  column: z.int().openapi({ description: 'From 1.', example: 6 }),
  start: z.int().openapi({ description: 'Index of the first character, from 0.', example: 5 }),
  end: z.int().openapi({ description: 'Index after the last character.', example: 10 }),
}

const CelIssue = z
  .object({ code: z.string().openapi({ example: 'no_such_key' }), message: z.string(), ...Place })
  .openapi('CelIssue')

const CelWarning = CelIssue.extend({
  suggestion: z
    .string()
    .nullable()
    .openapi({ description: 'The most similar value that exists. Null when no value is similar.' }),
}).openapi('CelWarning')

export const CelValidation = z
  .object({
    is_valid: z.boolean(),
    return_type: z
      .string()
      .nullable()
      .openapi({ description: 'Null when the expression has errors.', example: 'bool' }),
    errors: z.array(CelIssue),
    warnings: z.array(CelWarning),
    estimated_user_count: Count.nullable().openapi({
      description:
        'The number of people who meet the expression. Null when the expression has errors or the people could not be counted.',
    }),
    is_estimate: z.boolean().openapi({
      description:
        'False: the count is exact. True: only the first 10,000 people were tested, or fewer when testing them takes longer than a second, and the count is extrapolated from them.',
    }),
  })
  .openapi('CelValidation')

const ValidateCel = z.object({
  expression: z.string(),
  organization_id: Id('org').optional(),
  edition_id: Id('edt').optional().openapi({ description: 'Required unless `organization_id` is given.' }),
  communication_type: z.enum(communicationTypes).optional(),
  communication_channel: z.enum(channels).optional().openapi({
    description:
      'With `communication_type`: counts only people who would receive messages of this type through this channel.',
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
    'Checks an expression and counts the people it holds for. The answer is 200 for an invalid expression too. With `edition_id` the people of the edition are counted, otherwise those of the organisation, or of the editions where the caller has a role. The count is exact for up to 10,000 people. A warning `unknown_value` means that an id, a key or a product name in the expression does not exist. `no_value` gives the number of people who have no value in a field that is compared, such as `user.last_seen`; the comparison does not hold for them.',
  roles: roleCodes,
  body: ValidateCel,
  example: { expression: 'user.emial == "a"', organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' },
  response: CelValidation,
})

const Truth = z
  .boolean()
  .nullable()
  .openapi({ description: 'Null when the condition is an error, which counts as false.' })

const Explanation = z
  .object({
    user_id: Id('usr'),
    is_member: z.boolean().openapi({ description: 'True when a calculation now would make the person a member.' }),
    excluded_for: z
      .string()
      .nullable()
      .openapi({ description: 'The first condition that excludes the person. Null for a member.' }),
    parts: z
      .array(
        z.object({
          start: z.int(),
          end: z.int(),
          text: z.string().openapi({ example: 'stats.order_count >= 2' }),
          value: Truth,
        }),
      )
      .openapi({ description: 'The conditions of the expression. The first is the whole expression.' }),
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
      .openapi({ description: 'Further conditions, from the communication type and channel of the segment.' }),
    consents: z
      .array(
        z.object({
          key: z.string().openapi({ example: 'newsletter' }),
          consent_id: Id('con'),
          record_id: Id('cre')
            .nullable()
            .openapi({ description: 'The latest answer. Null when the person never answered.' }),
          status: z.enum(answerStates),
          is_current: z.boolean(),
          decides: z.enum(['expression', 'audience']),
        }),
      )
      .openapi({
        description:
          'The consents that the expression uses, and the one that decides whether the person receives marketing.',
      }),
    segment_status: z.enum(segmentStatuses),
    was_member: z
      .boolean()
      .nullable()
      .openapi({ description: 'Whether the person was a member at the last calculation. Null before the first one.' }),
  })
  .openapi('SegmentExplanation')

export const explainSegment = operation({
  id: 'explainSegment',
  tag,
  method: 'get',
  path: '/v1/segments/{id}/explain',
  summary: 'Explain a segment for one person',
  description: 'Shows why a person belongs to the segment or not, based on current data.',
  roles: managers,
  params: IdParams('seg'),
  query: z.object({ user_id: IdFilter.min(1).openapi({ description: 'The customer.' }) }),
  response: Explanation,
})

export type ExplanationWire = z.input<typeof Explanation>
export type CelContextWire = z.input<typeof CelContext>
