import { env } from 'cloudflare:workers'
import { app, type Bindings } from './app.ts'
import { queue } from './entry/queue.ts'
import { scheduled } from './entry/scheduled.ts'
import { checkStart } from './entry/start.ts'

checkStart(env)

export default { fetch: app.fetch, queue, scheduled } satisfies ExportedHandler<Bindings>
