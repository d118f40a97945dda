import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'

/** What files are measured against: a route that only puts and gets the same bytes. */
export const filesBench = new Hono<{ Bindings: Bindings }>()

filesBench.put('/floor/files/:key', async (c) => {
  const httpMetadata = { contentType: c.req.header('content-type') ?? '' }
  const object = await c.env.FILES.put(`floor/${c.req.param('key')}`, c.req.raw.body, { httpMetadata })
  return c.json({ size: object?.size }, 201)
})

filesBench.get('/floor/files/:key', async (c) => {
  const object = await c.env.FILES.get(`floor/${c.req.param('key')}`)
  if (!object) return c.notFound()
  const headers = { 'content-length': String(object.size), 'content-type': object.httpMetadata?.contentType ?? '' }
  return new Response(object.body, { headers })
})
