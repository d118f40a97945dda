import { OpenAPIHono } from '@hono/zod-openapi'
import { errorStatus } from '../domain/errors.ts'
import { version } from '../domain/version.ts'
import { completeDocument } from './document/complete.ts'
import { eventGroups, groups } from './document/groups.ts'
import type { AppEnv } from './env.ts'
import type { Router } from './operations/mount.ts'
import { tags } from './operations/operation.ts'

const description = `Organisations that run events manage their editions, orders and customers here.

Send \`Authorization: Bearer <token>\`. Lists return \`{count, next, previous, results}\`. Errors are RFC 9457 problem
documents with a stable \`code\`. An \`Idempotency-Key\` makes every POST and PATCH safe to repeat, and \`If-Match\` with an
\`ETag\` prevents lost updates. Times are UTC with milliseconds, and amounts are numbers in major units.

**Roles.** A member has a role in a whole organisation or in one of its editions, and each operation names the roles that
can call it. \`OA\`, \`OM\` and \`OV\` are admin, manager and viewer of the organisation and of all its editions. \`EA\`,
\`EM\` and \`EV\` are the same for one edition, and see nothing of the others. Viewers read. Managers also change what
their daily work needs. Admins also change settings, members and secrets. You get 404 for a resource that you may not see,
and 403 for an operation that you may not call. The superuser of the platform can call everything.

Reads come from the nearest replica. Send the \`x-d1-bookmark\` header of a response with your next request to read at least
that state.`

/** The OpenAPI 3.1 document of all operations. Building it takes milliseconds, so cache it. */
export function openApiDocument(routers: readonly Router[]) {
  const all = new OpenAPIHono<AppEnv>()
  all.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token or the token of a session (`ecm_…`), or a token of the configured OpenID Connect issuer.',
  })
  for (const { hono, webhooks } of routers) {
    all.route('/', hono)
    // Webhooks in the router's own registry would become paths when it is mounted.
    for (const webhook of webhooks) all.openAPIRegistry.registerWebhook(webhook)
  }
  const usedTags = new Set(routers.flatMap((router) => router.operations.map((operation) => operation.tag)))
  const document = all.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Event Commerce Management Service',
      version,
      description,
      license: { name: 'MIT' },
    },
    servers: [{ url: '/', 'x-internal': false }],
    tags: [
      ...tags.filter((tag) => usedTags.has(tag)).map((name) => ({ name, description: groups[name] })),
      ...Object.entries(eventGroups).map(([name, meaning]) => ({ name, description: meaning })),
    ],
    security: [{ bearer: [] }],
    'x-error-codes': errorStatus,
  })
  completeDocument(
    document,
    routers.flatMap(({ operations }) => operations),
  )
  return document
}
