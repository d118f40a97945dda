import { examples } from '../../src/domain/cel/functions.ts'
import type { DemoEdition, Make } from './seed-rows.ts'

const forCampaign = 'segment.newsletter'

/** A segment for each example of the reference, about these editions. Answers the one that the campaign goes to. */
export async function makeSegments(make: Make, home: DemoEdition, editions: [string, string]): Promise<string> {
  const { organization_id } = home
  for (const [index, { title, expression }] of examples.entries()) {
    const id = await make(`segment.${index}`, '/v1/segments', {
      organization_id,
      name: title,
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: expression.replaceAll('edt_a', editions[0]).replaceAll('edt_b', editions[1]),
    })
    await make(`segment.${index}.members`, `/v1/segments/${id}/recalculate`, {})
  }
  return make(forCampaign, '/v1/segments', {
    organization_id,
    name: 'Newsletter',
    communication_type: 'marketing',
    communication_channel: 'email',
    expression: 'user.has_email',
  })
}
