import { describe, expect, it } from 'vitest'
import { call } from '../support/api.ts'

describe('the OpenAPI document', () => {
  it('says that a field may be null when it has a named shape or a stated type', async () => {
    const { body } = await call('/openapi.json', { token: null })
    const { EditionDetail } = body.components.schemas
    expect(EditionDetail.properties.meta_image).toMatchObject({
      anyOf: [{ $ref: '#/components/schemas/Image' }, { type: 'null' }],
    })
    const update = body.paths['/v1/editions/{id}'].patch.requestBody.content['application/json'].schema
    expect(update.properties.start_date).toMatchObject({ type: ['string', 'null'], format: 'date-time' })
  })
})
