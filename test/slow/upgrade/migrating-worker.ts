import type { Bindings } from '../../../src/app.ts'
import service, { CampaignSender, WebhookSender } from '../../../src/index.ts'

/** Applies a migration as D1 does: in one transaction, between the statements of requests. */
async function migrate(request: Request, { DB }: Bindings): Promise<Response> {
  const { name, queries } = await request.json<{ name: string; queries: string[] }>()
  const statements = queries.map((query) => DB.prepare(query))
  try {
    await DB.batch([...statements, DB.prepare('insert into d1_migrations (name) values (?)').bind(name)])
    return new Response(null, { status: 204 })
  } catch (error) {
    return new Response(String(error), { status: 422 })
  }
}

export { CampaignSender, WebhookSender }

export default {
  ...service,
  fetch: (request: Request, env: Bindings, context: ExecutionContext) =>
    new URL(request.url).pathname === '/test/migrate' ? migrate(request, env) : service.fetch(request, env, context),
} satisfies ExportedHandler<Bindings>
