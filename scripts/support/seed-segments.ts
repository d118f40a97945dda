import { examples } from '../../src/domain/cel/functions.ts'
import type { DemoEdition, Make } from './seed-rows.ts'

/** Creates a segment for each example expression of the reference. */
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

/** Starts the calculation of the example segments. */
export async function calculateExampleSegments(make: Make, made: Record<string, string>): Promise<void> {
  for (const index of examples.keys())
    await make(`segment.${index}.members`, `/v1/segments/${made[`segment.${index}`]}/recalculate`, {})
}

/** Creates the segment of the campaign. It is for marketing, so it excludes people without consent. */
export const makeAudienceSegment = (make: Make, { organization_id }: DemoEdition): Promise<string> =>
  make('segment.newsletter', '/v1/segments', {
    organization_id,
    name: 'Newsletter',
    communication_type: 'marketing',
    communication_channel: 'email',
    expression: 'user.has_email',
  })
