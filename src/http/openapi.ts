import { OpenAPIHono } from '@hono/zod-openapi'
import { errorStatus } from '../domain/errors.ts'
import { complete } from './document/complete.ts'
import { eventGroups, groups } from './document/groups.ts'
import type { AppEnv } from './env.ts'
import { tags } from './operations/operation.ts'
import type { Router } from './operations/mount.ts'

const description = `Organisations that run events manage their editions, orders and customers here.

Send \`Authorization: Bearer <token>\`. Lists answer \`{count, next, previous, results}\`; refusals are RFC 9457 problem
documents with a stable \`code\`. \`Idempotency-Key\` makes every POST and PATCH safe to repeat; \`ETag\` and \`If-Match\`
protect changes from each other. Times are UTC with milliseconds, amounts are numbers in major units.

**Roles.** A member has a role in a whole organisation or in one edition of it; each operation names those who may call
it. \`OA\`, \`OM\` and \`OV\` are admin, manager and viewer of the organisation: what they may do holds in all its editions.
\`EA\`, \`EM\` and \`EV\` are the same for one edition, and see nothing of the others. Viewers read, managers also change
what the daily work needs, admins also settings, members and secrets. What the caller may not see is answered as if it did
not exist (404); what the caller may see and not do, with 403. The superuser of the platform may call everything.

Send the \`x-d1-bookmark\` of an answer with the next request to read at least that state from the nearest replica.`

/** The OpenAPI 3.1 document of all operations; building it takes milliseconds, so callers keep it. */
export function openApiDocument(routers: readonly Router[]) {
  const all = new OpenAPIHono<AppEnv>()
  all.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token (`ecm_…`), or a token of the configured OpenID Connect issuer.',
  })
  for (const { hono, webhooks } of routers) {
    all.route('/', hono)
    // Not through the router's own registry: mounting would make paths of the names.
    for (const webhook of webhooks) all.openAPIRegistry.registerWebhook(webhook)
  }
  const used = new Set(routers.flatMap((router) => router.operations.map((operation) => operation.tag)))
  const document = all.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Event Commerce Management Service',
      version: '1.0.0',
      description,
      license: { name: 'MIT' },
    },
    servers: [{ url: '/', 'x-internal': false }],
    tags: [
      ...tags.filter((tag) => used.has(tag)).map((name) => ({ name, description: groups[name] })),
      ...Object.entries(eventGroups).map(([name, meaning]) => ({ name, description: meaning })),
    ],
    security: [{ bearer: [] }],
    'x-error-codes': errorStatus,
  })
  complete(
    document,
    routers.flatMap(({ operations }) => operations),
  )
  return document
}
