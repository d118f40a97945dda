import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../../domain/accounts/access.ts'
import { checks, healthStatuses, severities } from '../../../domain/editions/health/index.ts'
import { maxRelatedObjects } from '../../../domain/errors.ts'
import { Id } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'

export const EditionHealthCheck = z
  .object({
    category: z.string().openapi({ example: 'schedule' }),
    check_id: z.string().openapi({ example: 'schedule.dates_set' }),
    severity: z.enum(severities),
    passed: z.boolean(),
    message: z
      .string()
      .openapi({ description: 'What the check found: the rule if it passed, or the problem if it failed.' }),
    suggestion: z.string().openapi({ description: 'How to fix the problem. Empty when the check passed.' }),
    related_objects: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          type: z.string().openapi({ description: 'The kind of the object.', example: 'product' }),
          operation: z.string().nullable().openapi({
            description:
              'The operation that fixes the problem, or lists what you have to decide about. Null: no operation fixes it.',
            example: 'updateProduct',
          }),
          path: z.string().nullable().openapi({
            description: 'The path of that operation. Null without one.',
            example: '/v1/products/prd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
          }),
        }),
      )
      .max(maxRelatedObjects)
      .openapi({
        description:
          'The objects that cause the problem, as far as you may see them; the edition when it is none of them. Empty when the check passed.',
      }),
  })
  .openapi('EditionHealthCheck')

const FailedCount = z.int().min(0).max(checks.length)

export const EditionHealthcheckResponse = z
  .object({
    edition_id: Id('edt'),
    edition_name: z.string(),
    status: z.enum(healthStatuses).openapi({ description: 'Failed checks of severity `info` do not count.' }),
    can_publish: z.boolean().openapi({ description: 'True when no critical check failed.' }),
    summary: z
      .object({ critical: FailedCount, warning: FailedCount, info: FailedCount })
      .openapi({ description: 'The number of failed checks of each severity.' }),
    checks: z.array(EditionHealthCheck).max(checks.length),
  })
  .openapi('EditionHealthcheckResponse')

export const getEditionHealthcheck = operation({
  id: 'getEditionHealthcheck',
  tag: 'Editions',
  method: 'get',
  path: '/v1/editions/{edition_id}/healthcheck',
  summary: 'Check the health of an edition',
  description: `Runs all ${checks.length} checks and returns their results. You cannot publish an edition with a failed critical check.`,
  roles: roleCodes,
  params: z.object({
    edition_id: z.string().openapi({
      param: { name: 'edition_id', in: 'path' },
      example: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
  }),
  response: EditionHealthcheckResponse,
})
