import { examples } from '../../src/domain/cel/functions.ts'
import type { DemoEdition, Make } from './seed-rows.ts'

/** A segment for each example of the reference, about these editions. */
export async function makeExampleSegments(make: Make, tenant: DemoEdition, editions: [string, string]): Promise<void> {
  for (const [index, { title, expression }] of examples.entries()) {
    await make(`segment.${index}`, '/v1/segments', {
      organization_id: tenant.organization_id,
      name: title,
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: expression.replaceAll('edt_a', editions[0]).replaceAll('edt_b', editions[1]),
    })
  }
}

/** The members of the example segments; they are there soon after. */
export async function calculateExampleSegments(make: Make, made: Record<string, string>): Promise<void> {
  for (const index of examples.keys())
    await make(`segment.${index}.members`, `/v1/segments/${made[`segment.${index}`]}/recalculate`, {})
}

/** Whom the campaign goes to: marketing leaves out who has not agreed to it. */
export const makeAudienceSegment = (make: Make, { organization_id }: DemoEdition): Promise<string> =>
  make('segment.newsletter', '/v1/segments', {
    organization_id,
    name: 'Newsletter',
    communication_type: 'marketing',
    communication_channel: 'email',
    expression: 'user.has_email',
  })
