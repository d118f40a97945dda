import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'

/** What files are measured against: a route that only puts and gets the same bytes. */
export const filesBench = new Hono<{ Bindings: Bindings }>()

filesBench.put('/floor/files/:key', async (c) => {
  const httpMetadata = { contentType: c.req.header('content-type') ?? '' }
  const object = await c.env.FILES.put(`floor/${c.req.param('key')}`, c.req.raw.body, { httpMetadata })
  return c.json({ size: object?.size }, 201)
})

/** The same and one row in the database, in one transaction: what any service that knows its files pays at least. */
filesBench.put('/floor/recorded-files/:key', async (c) => {
  const key = c.req.param('key')
  const httpMetadata = { contentType: c.req.header('content-type') ?? '' }
  const object = await c.env.FILES.put(`floor/${key}`, c.req.raw.body, { httpMetadata })
  await c.env.DB.prepare("insert into storage_sweeps (name, after_key, begun_at) values (?, '', ?)")
    .bind(`floor/${key}`, Date.now())
    .run()
  return c.json({ size: object?.size }, 201)
})

filesBench.get('/floor/recorded-files/:key', async (c) => {
  const key = `floor/${c.req.param('key')}`
  await c.env.DB.prepare('select begun_at from storage_sweeps where name = ?').bind(key).first()
  const object = await c.env.FILES.get(key)
  if (!object) return c.notFound()
  const headers = { 'content-length': String(object.size), 'content-type': object.httpMetadata?.contentType ?? '' }
  return new Response(object.body, { headers })
})

filesBench.get('/floor/files/:key', async (c) => {
  const object = await c.env.FILES.get(`floor/${c.req.param('key')}`)
  if (!object) return c.notFound()
  const headers = { 'content-length': String(object.size), 'content-type': object.httpMetadata?.contentType ?? '' }
  return new Response(object.body, { headers })
})
