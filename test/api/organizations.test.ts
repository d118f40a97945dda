import { describe, expect, it } from 'vitest'
import { call, get, patch, post } from '../support/api.ts'

describe('createOrganization', () => {
  it('makes an organisation with a slug of its name', async () => {
    const reply = await post('/v1/organizations', { name: 'Ærø Sommerfest' })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ name: 'Ærø Sommerfest', slug: 'aero-sommerfest' })
    const read = await get(reply.headers.get('location') ?? '')
    expect(read.body).toEqual(reply.body)
  })
  it('changes', async () => {
    const { body, headers } = await post('/v1/organizations', { name: 'Before' })
    const reply = await patch(`/v1/organizations/${body.id}`, { name: 'After' })
    expect(reply.body.name).toBe('After')
    const stale = await call(`/v1/organizations/${body.id}`, {
      method: 'PATCH',
      body: { name: 'x' },
      headers: { 'if-match': headers.get('etag') ?? '' },
    })
    expect(stale.status).toBe(412)
    const info = await get('/v1/auth/user-info')
    expect(info.body.is_superuser).toBe(true)
  })
})
