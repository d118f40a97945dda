import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../../domain/accounts/access.ts'
import { checks, healthStatuses, severities } from '../../../domain/editions/health/index.ts'
import { Id } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'

export const relatedShown = 20

export const EditionHealthCheck = z
  .object({
    category: z.string().openapi({ example: 'schedule' }),
    check_id: z.string().openapi({ example: 'schedule.dates_set' }),
    severity: z.enum(severities),
    passed: z.boolean(),
    message: z.string().openapi({ description: 'The rule that holds, or the fault.' }),
    suggestion: z.string().openapi({ description: 'Empty for a check that passed.' }),
    related_objects: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .max(relatedShown)
      .openapi({
        description: 'What is at fault: only what the caller may see.',
      }),
  })
  .openapi('EditionHealthCheck')

const Failed = z.int().min(0).max(checks.length)

export const EditionHealthcheckResponse = z
  .object({
    edition_id: Id('edt'),
    edition_name: z.string(),
    status: z.enum(healthStatuses).openapi({ description: 'Failed checks of severity `info` leave it healthy.' }),
    can_publish: z.boolean().openapi({ description: 'No critical check failed.' }),
    summary: z
      .object({ critical: Failed, warning: Failed, info: Failed })
      .openapi({ description: 'Failed checks by severity.' }),
    checks: z.array(EditionHealthCheck).max(checks.length),
  })
  .openapi('EditionHealthcheckResponse')

export const getEditionHealthcheck = operation({
  id: 'getEditionHealthcheck',
  tag: 'Editions',
  method: 'get',
  path: '/v1/editions/{edition_id}/healthcheck',
  summary: 'Check the health of an edition',
  description: `All ${checks.length} checks, whether they passed or not, as the edition is now. Failed critical ones keep it from being published.`,
  roles: roleCodes,
  params: z.object({
    edition_id: z.string().openapi({
      param: { name: 'edition_id', in: 'path' },
      example: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
  }),
  response: EditionHealthcheckResponse,
})
