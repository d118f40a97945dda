import { app } from './app.ts'
import { scheduled } from './entry/scheduled.ts'
import type { Bindings } from './http/env.ts'

export default { fetch: app.fetch, scheduled } satisfies ExportedHandler<Bindings>
